package template

import (
	"encoding/json"
	"io/fs"
)

// fromOurs takes one of our own templates, for the models that ship none.
func fromOurs(fsys fs.FS, _ map[string]json.RawMessage, src *source) error { return nil }
