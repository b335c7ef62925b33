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
	Any     bool    `json:"any"` // there was a turn
	One     string  `json:"one"` // digest of the only salt
	Several bool    `json:"several"`
	Slots   []trace `json:"slots,omitempty"` // with several salts, the one that was used last at the end
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

// recall reads what was noted of a server. used says that it has had turns:
// without notes those may have been of any salt.
func recall(file string, used bool) (salts, []trace) {
	if !used {
		return salts{}, nil
	}
	data, err := os.ReadFile(file)
	var n notes
	if err != nil || json.Unmarshal(data, &n) != nil {
		return salts{foreign: true}, nil
	}
	return salts{any: n.Any, one: n.One, several: n.Several}, n.Slots
}

// noted is what is to be noted of a mirror, as it stands in the file; nil is
// nothing.
func (m *mirror) noted() []byte {
	if m.salts.foreign {
		return nil
	}
	data, _ := json.Marshal(notes{m.salts.any, m.salts.one, m.salts.several, m.traces()}) // texts and numbers can always be written
	return data
}

// note writes that down. Where that fails, the server's next daemon takes its
// content for anybody's.
func note(file string, data []byte) {
	if os.WriteFile(file+".new", data, 0o600) != nil || os.Rename(file+".new", file) != nil {
		_ = os.Remove(file)
	}
}
