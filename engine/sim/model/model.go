package model

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

//go:embed tokenizer.json tokenizer_config.json config.json generation_config.json
var files embed.FS

// FS returns the model folder, read only.
func FS() fs.FS { return files }

// Write puts the model folder's files into dir, which it makes if need be.
// Files of the same names are replaced; others stay.
func Write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write model: %w", err)
	}
	entries, err := files.ReadDir(".")
	if err != nil {
		return fmt.Errorf("write model: %w", err)
	}
	for _, e := range entries {
		data, err := files.ReadFile(e.Name())
		if err != nil {
			return fmt.Errorf("write model: %w", err)
		}
		if err := os.WriteFile(filepath.Join(dir, e.Name()), data, 0o644); err != nil {
			return fmt.Errorf("write model: %w", err)
		}
	}
	return nil
}
