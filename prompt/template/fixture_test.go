package template

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// fixtures is the folder of templates with their reference answers:
// DYN_FIXTURES, else the one beside the repository.
func fixtures(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("DYN_FIXTURES")
	if dir == "" {
		top, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		for {
			if _, err := os.Stat(filepath.Join(top, "go.mod")); err == nil {
				break
			}
			top = filepath.Dir(top)
		}
		dir = filepath.Join(top, "..", "shared", "fixtures")
	}
	dir = filepath.Join(dir, "templates")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no templates at %s; set DYN_FIXTURES to run this test", dir)
	}
	return dir
}

// templates are the names and texts of the fixture templates.
func templates(t testing.TB) map[string]string {
	t.Helper()
	paths, _ := filepath.Glob(filepath.Join(fixtures(t), "*.jinja"))
	all := map[string]string{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(path), ".jinja")] = string(data)
	}
	if len(all) == 0 {
		t.Skip("the folder of templates holds none")
	}
	return all
}

// special are the special tokens of the reference.
const special = `{"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}`

// openText opens a folder with one template.
func openText(text string, switches map[string]any) (*Template, error) {
	return Open(fstest.MapFS{
		"chat_template.jinja":   {Data: []byte(text)},
		"tokenizer_config.json": {Data: []byte(special)},
	}, Options{Switches: switches})
}

func opened(t testing.TB, text string, switches map[string]any) *Template {
	t.Helper()
	tmpl, err := openText(text, switches)
	if err != nil {
		t.Fatal(err)
	}
	return tmpl
}
