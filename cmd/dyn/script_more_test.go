package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/agentinfer/dyn/cmd/dyn/internal/control"
	"github.com/agentinfer/dyn/cmd/dyn/internal/folders"
	"github.com/agentinfer/dyn/ledger"
)

// askStatus asks the daemon for a path, with a key or without, and checks the
// status: status 401 /v1/models sk-dyn-x.
func askStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: status <n> <path> [key]")
	}
	f, err := folders.Find(ts.Getenv)
	ts.Check(err)
	d, ok := f.Daemon()
	if !ok {
		ts.Fatalf("no daemon is running")
	}
	req, err := http.NewRequest(http.MethodGet, d.URL+args[1], nil)
	ts.Check(err)
	if len(args) == 3 {
		req.Header.Set("Authorization", "Bearer "+args[2])
	}
	resp, err := http.DefaultClient.Do(req)
	ts.Check(err)
	resp.Body.Close()
	if want, err := strconv.Atoi(args[0]); err != nil || resp.StatusCode != want {
		ts.Fatalf("status %s, want %s", resp.Status, args[0])
	}
}

var secretForm = regexp.MustCompile(`sk-dyn-[A-Za-z0-9_-]{43}`)

// lastSecret puts the secret that the last command printed in a variable:
// secret BOB.
func lastSecret(ts *testscript.TestScript, _ bool, args []string) {
	found := secretForm.FindString(ts.ReadFile("stdout"))
	if found == "" {
		ts.Fatalf("no secret was printed")
	}
	ts.Setenv(args[0], found)
}

// launcherKey puts the key of the daemon's launchers in a variable.
func launcherKey(ts *testscript.TestScript, _ bool, args []string) {
	f, err := folders.Find(ts.Getenv)
	ts.Check(err)
	d, _ := f.Daemon()
	ts.Setenv(args[0], d.Local)
}

// lastSession waits until the ledger has a turn that has ended, and puts the
// session of the latest one in a variable: session ONE.
func lastSession(ts *testscript.TestScript, _ bool, args []string) {
	f, err := folders.Find(ts.Getenv)
	ts.Check(err)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	ok := control.Wait(ctx, 10*time.Millisecond, func() bool {
		r, err := ledger.OpenReader(f.Ledger())
		if err != nil {
			return false
		}
		defer r.Close()
		turns, err := r.Turns(context.Background(), ledger.Query{Limit: 1})
		if err != nil || len(turns) == 0 || turns[0].Outcome == "" || turns[0].Session == "" || turns[0].Session == ts.Getenv("LAST") {
			return false
		}
		ts.Setenv(args[0], turns[0].Session)
		ts.Setenv("LAST", turns[0].Session)
		return true
	})
	if !ok {
		ts.Fatalf("no turn came to the ledger")
	}
}

// talkKey is the key of a script's conversation.
type talkKey struct{}

// dialogue is a conversation of a script, and what its last turn cost.
type dialogue struct {
	messages       []map[string]string
	prompt, cached int
}

// say adds a user's message to the script's conversation, asks the daemon for
// an answer and adds that too: say how are you.
func say(ts *testscript.TestScript, _ bool, args []string) {
	k := ts.Value(talkKey{}).(*dialogue)
	f, err := folders.Find(ts.Getenv)
	ts.Check(err)
	picture, err := control.New(f.Socket()).Snapshot(context.Background())
	ts.Check(err)
	k.messages = append(k.messages, map[string]string{"role": "user", "content": strings.Join(args, " ")})
	body, err := json.Marshal(map[string]any{"model": picture.Models[0].ID, "messages": k.messages})
	ts.Check(err)
	resp, err := http.Post(picture.Daemon.URL+"/v1/chat/completions", "application/json", bytes.NewReader(body))
	ts.Check(err)
	defer resp.Body.Close()
	var doc struct {
		Choices []struct{ Message struct{ Content string } }
		Usage   struct {
			Prompt  int `json:"prompt_tokens"`
			Details struct {
				CachedTokens int `json:"cached_tokens"`
			} `json:"prompt_tokens_details"`
		}
	}
	ts.Check(json.NewDecoder(resp.Body).Decode(&doc))
	if len(doc.Choices) != 1 {
		ts.Fatalf("no answer: %s", resp.Status)
	}
	k.messages = append(k.messages, map[string]string{"role": "assistant", "content": doc.Choices[0].Message.Content})
	k.prompt, k.cached = doc.Usage.Prompt, doc.Usage.Details.CachedTokens
	ts.Logf("%d prompt tokens, %d cached", k.prompt, k.cached)
}

// cached checks how many tokens of the last turn of the conversation were
// computed at most: cached all but 40.
func cached(ts *testscript.TestScript, neg bool, args []string) {
	k := ts.Value(talkKey{}).(*dialogue)
	most, err := strconv.Atoi(args[len(args)-1])
	ts.Check(err)
	if got := k.prompt - k.cached; got <= most == neg {
		ts.Fatalf("%d of %d tokens were computed", got, k.prompt)
	}
}

// newerLedger makes the ledger one of a dyn that knows more than this one:
// newer.
func newerLedger(ts *testscript.TestScript, _ bool, _ []string) {
	f, err := folders.Find(ts.Getenv)
	ts.Check(err)
	file, err := os.OpenFile(f.Ledger(), os.O_WRONLY, 0)
	ts.Check(err)
	defer file.Close()
	_, err = file.WriteAt(binary.BigEndian.AppendUint32(nil, 99), 60) // user_version: https://www.sqlite.org/fileformat.html
	ts.Check(err)
}
