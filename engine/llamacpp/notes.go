package llamacpp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// notes are what is written down about a server that dyn launched, in the
// folder of its life, since it may outlive the daemon and does not tell.
type notes struct {
	Any     bool   `json:"any"` // there was a turn
	One     string `json:"one"` // digest of the only salt
	Several bool   `json:"several"`
}

// notesIn is the file for notes about the server with that command line; ""
// when it has no folder of ours.
func notesIn(args []string) string {
	for i, arg := range args {
		switch name, value, joined := strings.Cut(arg, "="); {
		case name != "--slot-save-path":
		case joined:
			return filepath.Join(value, "salts.json")
		case i+1 < len(args):
			return filepath.Join(args[i+1], "salts.json")
		}
	}
	return ""
}

// recall reads the salts that a server has had before. used says that it has
// had turns: without notes those may have been of any salt.
func recall(file string, used bool) salts {
	if !used {
		return salts{}
	}
	data, err := os.ReadFile(file)
	var n notes
	if err != nil || json.Unmarshal(data, &n) != nil {
		return salts{foreign: true}
	}
	return salts{any: n.Any, one: n.One, several: n.Several}
}

// note writes the salts down. Where that fails, the server's next daemon takes
// its content for anybody's.
func note(file string, s salts) {
	if file == "" || s.foreign {
		return
	}
	data, _ := json.Marshal(notes{s.any, s.one, s.several}) // strings can always be written
	if os.WriteFile(file+".new", data, 0o600) != nil || os.Rename(file+".new", file) != nil {
		_ = os.Remove(file)
	}
}
