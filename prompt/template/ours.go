package template

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/agentinfer/dyn/prompt/jinja"
)

// ours are the templates of models that ship none, by the architecture in
// config.json. What they print is the form of the encoders in the models'
// folders (encoding_dsv32.py and encoding_dsv4.py, read in vLLM's copies).
//
//go:embed ours/*.jinja
var ours embed.FS

var architectures = map[string]string{
	"DeepseekV32ForCausalLM": "ours/deepseek_v32.jinja",
	"DeepseekV4ForCausalLM":  "ours/deepseek_v4.jinja",
}

// fromOurs takes one of our own templates.
func fromOurs(fsys fs.FS, _ map[string]json.RawMessage, src *source) error {
	config, err := readConfig(fsys, "config.json")
	if err != nil {
		return err
	}
	var names []string
	if raw, ok := config["architectures"]; ok {
		if err := json.Unmarshal(raw, &names); err != nil {
			return fmt.Errorf("read config.json: architectures: %w", err)
		}
	}
	for _, name := range names {
		file, ok := architectures[name]
		if !ok {
			continue
		}
		data, err := ours.ReadFile(file)
		if err != nil {
			return err
		}
		src.name, src.plain, src.tools = file, string(data), ""
		return efforts3(fsys, src)
	}
	return nil
}

// efforts3 tells the releases of V4 apart that know two and three levels of
// effort. The architecture is the same; the folder's encoder is not.
func efforts3(fsys fs.FS, src *source) error {
	data, err := fs.ReadFile(fsys, "encoding/encoding_dsv4.py")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if bytes.Contains(data, []byte("Beyond maximum")) {
		src.tokens = append(src.tokens, variable{"effort_levels", jinja.Int(3)})
	}
	return err
}
