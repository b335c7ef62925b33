package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestClaude(t *testing.T) {
	s := served{URL: "http://127.0.0.1:8080", Model: "sim", Context: 262144}
	env := map[string]string{}
	for _, p := range claudeEnv(s) {
		env[p.name] = p.value
	}
	for name, want := range map[string]string{
		"ANTHROPIC_BASE_URL":             "http://127.0.0.1:8080",
		"ANTHROPIC_AUTH_TOKEN":           "dyn",
		"ANTHROPIC_API_KEY":              "",
		"ANTHROPIC_DEFAULT_HAIKU_MODEL":  "sim",
		"CLAUDE_CODE_MAX_CONTEXT_TOKENS": "262144",
		"CLAUDE_CODE_ATTRIBUTION_HEADER": "0",
		"CLAUDE_CODE_AUTO_MODE_SERVER":   "0",
		"ENABLE_TOOL_SEARCH":             "false",
	} {
		if got, ok := env[name]; !ok || got != want {
			t.Errorf("%s = %q %v, want %q", name, got, ok, want)
		}
	}
	line := claudeLine(s, []string{"-p", "hi"}).args
	var settings struct{ Env map[string]string }
	if line[0] != "--settings" || json.Unmarshal([]byte(line[1]), &settings) != nil || settings.Env["ANTHROPIC_BASE_URL"] != s.URL {
		t.Errorf("command line = %q, want settings first", line)
	}
	if !slices.Equal(line[2:], []string{"-p", "hi"}) {
		t.Errorf("rest = %q, want the user's arguments", line[2:])
	}
}

// A key is in the environment or in a file: everybody can read a command line.
func TestKeysAreOnNoCommandLine(t *testing.T) {
	s := served{URL: "http://h", Key: "sesame", Model: "m"}
	for _, l := range []line{claudeLine(s, nil), claudeLine(s, []string{"--settings", `{"env":{"A":"b"}}`}), codexLine(s, nil)} {
		for i, arg := range l.args {
			if strings.Contains(arg, "sesame") && (l.file == "" || i != l.at) {
				t.Errorf("the key is in %q", l.args)
			}
		}
	}
}

func TestClaudeWarns(t *testing.T) {
	for _, c := range []struct {
		name string
		s    served
		want []string
	}{
		{"large", served{Model: "sim", Context: 65_536}, nil},
		{"unknown", served{Model: "sim"}, nil},
		{"small", served{Model: "sim", Context: 32_768}, []string{"33k"}},
		{"a name of theirs", served{Model: "claude-x[1m]", Context: 200_000}, []string{"takes the context"}},
	} {
		got := claudeWarn(c.s)
		ok := len(got) == len(c.want)
		for i := range min(len(got), len(c.want)) {
			ok = ok && strings.Contains(got[i], c.want[i])
		}
		if !ok {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestCodex(t *testing.T) {
	s := served{URL: "http://h:1", Model: "sim", Context: 1000}
	line := codexLine(s, []string{"exec", "hi"}).args
	for _, want := range []string{`model="sim"`, `model_providers.dyn.base_url="http://h:1/v1"`, `model_providers.dyn.wire_api="responses"`, `model_context_window=1000`} {
		at := slices.Index(line, want)
		if at < 1 || line[at-1] != "-c" {
			t.Errorf("%q lacks -c %s", line, want)
		}
	}
	if !slices.Equal(line[len(line)-2:], []string{"exec", "hi"}) {
		t.Errorf("%q does not end with the user's arguments", line)
	}
	entry := `model_providers.dyn.base_url="http://h:1/v1"`
	for _, c := range []struct {
		args   []string
		again  bool // the daemon's entry comes once more, behind the option
		warned bool
	}{
		{[]string{"-c", `model="x"`, "exec", "hi"}, false, false},
		{[]string{"exec", "-c", "model_providers={}", "hi"}, true, false},
		{[]string{"exec", "--config", "model_providers={}"}, true, false},
		{[]string{"exec", "--config=model_providers.dyn={}", "hi"}, true, false},
		{[]string{`-cmodel_providers.dyn.base_url="http://x"`}, true, false},
		{[]string{"-c", "model_providers.other={}"}, false, false},
		{[]string{"exec", "--", "-c", "model_providers={}"}, false, false},
		{[]string{"-c", `model_provider="x"`}, false, true},
		{[]string{"--oss"}, false, true},
		{[]string{"-c"}, false, false},
	} {
		got := codexLine(s, c.args)
		rest := got.args[len(codexLine(s, nil).args):]
		if again := slices.Contains(rest, entry); again != c.again || (len(got.warn) > 0) != c.warned {
			t.Errorf("%q: %q, warnings %q", c.args, rest, got.warn)
		}
		for _, arg := range c.args {
			if !slices.Contains(rest, arg) {
				t.Errorf("%q: no %q in %q", c.args, arg, rest)
			}
		}
	}
}

func TestDirect(t *testing.T) {
	env := func(pairs map[string]string) func(string) string { return func(n string) string { return pairs[n] } }
	if got := direct(env(nil)); got != nil {
		t.Errorf("without a proxy = %v, want nothing", got)
	}
	got := direct(env(map[string]string{"HTTP_PROXY": "http://p", "NO_PROXY": "x"}))
	if len(got) != 2 || got[0].value != "x,127.0.0.1,localhost,::1" {
		t.Errorf("with a proxy = %v, want loopback added", got)
	}
	got = direct(env(map[string]string{"http_proxy": "http://p", "NO_PROXY": "x,y", "no_proxy": "x,y"}))
	if len(got) != 2 || got[0].value != "x,y,127.0.0.1,localhost,::1" {
		t.Errorf("with both lists = %v, want each once", got)
	}
}

func TestUnique(t *testing.T) {
	got := unique([]string{"A=1", "B=2", "A=3"})
	if !slices.Equal(got, []string{"A=3", "B=2"}) {
		t.Errorf("got %v, want the last A", got)
	}
}
