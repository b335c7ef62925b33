package llamacpp

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// firstPart is the name of the first file of a model in several; the server
// finds the others.
var firstPart = regexp.MustCompile(`-0*1-of-\d+\.gguf$`)

// anyPart is the name of any of them.
var anyPart = regexp.MustCompile(`-\d+-of-\d+\.gguf$`)

// modelFile is the model's file: path itself, or the one in the folder of that
// name. Files of projectors for images (mmproj) are not models.
func modelFile(path string) (string, error) {
	if path == "" {
		return "", errNoModel
	}
	at, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("model: %w", err)
	}
	if !at.IsDir() {
		return path, nil
	}
	files, err := os.ReadDir(path)
	if err != nil {
		return "", fmt.Errorf("model: %w", err)
	}
	var found []string
	for _, f := range files {
		name := f.Name()
		switch lower := strings.ToLower(name); {
		case !strings.HasSuffix(lower, ".gguf"), strings.Contains(lower, "mmproj"):
		case anyPart.MatchString(lower) && !firstPart.MatchString(lower):
		default:
			found = append(found, name)
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("model: no .gguf file in %s", path)
	case 1:
		return filepath.Join(path, found[0]), nil
	}
	return "", fmt.Errorf("model: several .gguf files in %s: name one of %s", path, strings.Join(found, ", "))
}
