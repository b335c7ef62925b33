package prompt

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// memoryAt is where in Claude Code's system prompt the folder is told first:
// as the name of the directory of its memory.
const memoryAt = 3553

// inFolder is the first request of a real session, in a folder: what the
// recording has of the system prompt is cut before the place where the folder
// stands, so it is put there.
func inFolder(t *testing.T, data []byte, folder string) *recorded {
	slug := strings.ReplaceAll(folder, "/", "-")
	turns := readRecording(t, data, func(head string, n int, hash string) string {
		s := filled(head, n, hash)
		if strings.Contains(head, "You are an agent working with the user") && n > memoryAt {
			s = s[:memoryAt] + " /home/user/.claude/projects/" + slug + "/memory/ " + s[memoryAt:]
		}
		return strings.ReplaceAll(s, "<cwd>", folder)
	})
	if len(turns) == 0 {
		t.Skip("the recording holds no turn")
	}
	return turns[0]
}

// TestOtherFolder: a session in another folder reuses every token up to the
// first byte that tells the folder, which is in the path of its memory, and
// nothing before it differs.
func TestOtherFolder(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(fixtures(t), "recordings", "claude-oneshot.json"))
	if os.IsNotExist(err) {
		t.Skip("claude-oneshot.json is not there")
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range twoTemplates(t) {
		t.Run(name, func(t *testing.T) {
			var here, there State
			a, err := m.Build(&here, inFolder(t, data, "/src/alpha").turn, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			b, err := m.Build(&there, inFolder(t, data, "/src/beta").turn, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			at := commonPrefix(here.page.Text, there.page.Text)
			before := string(here.page.Text[:at])
			if want := "/home/user/.claude/projects/-src-"; !strings.HasSuffix(before, want) {
				t.Fatalf("the sessions part at byte %d, after %q; want after %q", at, before[max(0, at-60):], want)
			}
			same := 0
			for same < min(a.IDs.Len(), b.IDs.Len()) && a.IDs.At(same) == b.IDs.At(same) {
				same++
			}
			// A token may reach from before that byte over it, and the one
			// before it may end otherwise because of that.
			reused := len(m.tok.Decode(nil, a.IDs.Flat()[:same]))
			if at-reused > len("projects/-src-") {
				t.Errorf("%d bytes are reused, the first byte of the folder is %d: %q", reused, at, before[reused:])
			}
			t.Logf("the first byte that tells the folder is %d (%q after %q); %d tokens before it are reused, of %d", at, here.page.Text[at:at+5], before[at-33:], same, a.IDs.Len())
		})
	}
}
