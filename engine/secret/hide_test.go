package secret

import (
	"slices"
	"strings"
	"testing"
)

func TestHide(t *testing.T) {
	for in, want := range map[string]string{
		`Authorization: Bearer abcdef0123`:                         `Authorization: Bearer …`,
		`headers={'authorization': 'Bearer abcdef', 'x': 1}`:       `headers={'authorization': 'Bearer …', 'x': 1}`,
		`GET /v1 -H "Authorization: Basic dXNlcjpwYXNz"`:           `GET /v1 -H "Authorization: Basic …"`,
		`got Bearer abcdef0123456= from 127.0.0.1`:                 `got Bearer … from 127.0.0.1`,
		`api_key=abcd1234, port=8000`:                              `api_key=…, port=8000`,
		`non-default args: {'api_key': ['abcd1234'], 'port': 1}`:   `non-default args: {'api_key': ['…'], 'port': 1}`,
		`Namespace(api_key=['abcd1234'], host='h')`:                `Namespace(api_key=['…'], host='h')`,
		`VLLM_API_KEY=abcd1234 vllm serve`:                         `VLLM_API_KEY=… vllm serve`,
		`vllm serve --api-key abcd1234 --port 1`:                   `vllm serve --api-key … --port 1`,
		`{"apiKey":"abcd1234"}`:                                    `{"apiKey":"…"}`,
		`https://h/x?api_key=abcd1234&b=2`:                         `https://h/x?api_key=…`,
		`HF_TOKEN=hf_abcdefghijklmnopqrst`:                         `HF_TOKEN=…`,
		`using hf_abcdefghijklmnopqrst of the user`:                `using … of the user`,
		`sk-abcdefghijklmnopqrst.`:                                 `….`,
		`index https://me:pass-w0rd@host/simple, then retry`:       `index https://…@host/simple, then retry`,
		`proxy socks5h://:pw@host:1080 at http://host:80/a@b`:      `proxy socks5h://…@host:1080 at http://host:80/a@b`,
		`using github_pat_11ABCDEFGH0123456789`:                    `using …`,
		`password: hunter22`:                                       `password: …`,
		`api_key=None, api_key: null`:                              `api_key=None, api_key: null`,
		`an api key is wanted; the api key was not given`:          `an api key is wanted; the api key was not given`,
		`max_tokens=16, eos_token='</s>', tokens: 12, token_ids=4`: `max_tokens=16, eos_token='</s>', tokens: 12, token_ids=4`,
		`my key is known-one, and short ones stay: abc`:            `my key is …, and short ones stay: abc`,
		`risk-free disk-cache hf_xet hf_transfer`:                  `risk-free disk-cache hf_xet hf_transfer`,
		``: ``,
	} {
		if got := Hide(in, "known-one", "abc", ""); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", in, got, want)
		}
	}
}

func TestArgs(t *testing.T) {
	for in, want := range map[string]string{
		"vllm serve --api-key secret --port 1":         "vllm serve --api-key … --port 1",
		"vllm serve --api-key=secret":                  "vllm serve --api-key=…",
		"docker run -e HF_TOKEN=x -e A=b image":        "docker run -e HF_TOKEN=… -e A=b image",
		"docker run -e HF_TOKEN image --max-tokens 5":  "docker run -e HF_TOKEN image --max-tokens 5",
		"x --hf-token hf --auth y --key":               "x --hf-token … --auth … --key",
		"x --key --other y":                            "x --key --other y",
		"curl -H Authorization:secret1 --tokenizer /m": "curl -H Authorization:… --tokenizer /m",
	} {
		args := strings.Fields(in)
		if got := strings.Join(Args(args), " "); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if !slices.Equal(args, strings.Fields(in)) {
			t.Errorf("%s: it was changed", in)
		}
	}
}

func TestEnviron(t *testing.T) {
	env := []string{"HF_TOKEN=12345678", "A_KEY=short", "TOKENIZERS=12345678", "PATH=/bin:/usr/bin", "AWS_SECRET_ACCESS_KEY=abcdefghi", "x"}
	if got := Environ(env); !slices.Equal(got, []string{"12345678", "abcdefghi"}) {
		t.Errorf("got %q", got)
	}
}

// What is hidden once stays as it is, whatever the text.
func FuzzHide(f *testing.F) {
	f.Add("api_key=['abcd1234'], Authorization: Bearer x1234567", "abcd")
	f.Add("--api-key --api-key", "key")
	f.Fuzz(func(t *testing.T, text, known string) {
		once := Hide(text, known)
		if len(known) >= 4 && !strings.Contains(Dots, known) && !strings.Contains(known, Dots) && strings.Contains(strings.ReplaceAll(once, Dots, ""), known) && !strings.Contains(strings.ReplaceAll(text, known, ""), known) {
			t.Skip("parts around it join to another one")
		}
		if len(known) >= 4 && !strings.Contains(known, Dots) && strings.Contains(once, known) {
			t.Errorf("%q is in %q", known, once)
		}
		Args(strings.Fields(text))
	})
}
