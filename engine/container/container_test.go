package container

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestIs(t *testing.T) {
	for _, c := range []struct {
		line string
		want bool
	}{
		{"docker run image", true},
		{"/usr/bin/podman run image", true},
		{"docker --context far run image", true},
		{"docker --context=far container run image", true},
		{"podman --remote run image", true},
		{"docker exec box vllm run", false},
		{"docker compose run vllm", false},
		{"docker", false},
		{"vllm run", false},
		{"", false},
	} {
		if got := Is(strings.Fields(c.line)); got != c.want {
			t.Errorf("%q: got %v", c.line, got)
		}
	}
}

func TestWrap(t *testing.T) {
	need := Need{Name: "dyn-w0-1", Env: []string{"VLLM_API_KEY", "A"}}
	for _, c := range []struct{ name, line, want string }{
		{
			"all of it", "docker run image serve --port 1",
			"docker run --rm --name dyn-w0-1 --network host -e VLLM_API_KEY -e A image serve --port 1",
		},
		{
			"what is there stays", "podman run --rm --net=host --gpus all image --rm",
			"podman run --name dyn-w0-1 -e VLLM_API_KEY -e A --rm --net=host --gpus all image --rm",
		},
		{
			"the engine's own words", "docker run image --name x -d -p 80:80",
			"docker run --rm --name dyn-w0-1 --network host -e VLLM_API_KEY -e A image --name x -d -p 80:80",
		},
		{
			"short ones together", "docker --context far run -it -v/a:/b image -d",
			"docker --context far run --rm --name dyn-w0-1 --network host -e VLLM_API_KEY -e A -it -v/a:/b image -d",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Wrap(strings.Fields(c.line), need)
			if err != nil || strings.Join(got, " ") != c.want {
				t.Errorf("got  %s, %v\nwant %s", strings.Join(got, " "), err, c.want)
			}
		})
	}
}

func TestWrapRefuses(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"docker run -d image", "docker run -d: dyn has to stay"},
		{"docker run -itd image", "-d: dyn has to stay"},
		{"docker run --detach=true image", "--detach true: dyn has to stay"},
		{"podman run --name mine image", "podman run --name mine: each worker"},
		{"docker run --network bridge image", "--network bridge: the engine listens on this machine's loopback"},
		{"docker run --net=none image", "--net none"},
		{"docker run -p 8000:8000 image", "-p 8000:8000: others could reach"},
		{"docker run -p8000:8000 image", "-p 8000:8000: others could reach"},
		{"docker run -P image", "-P: others could reach"},
		{"docker run --restart always image", "dyn starts the engine anew itself"},
	} {
		if _, err := Wrap(strings.Fields(c.line), Need{Name: "x"}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.line, err)
		}
	}
	for _, line := range []string{"docker run --detach=false --network host image", "docker run --gpus all image -d"} {
		if _, err := Wrap(strings.Fields(line), Need{Name: "x"}); err != nil {
			t.Errorf("%q: %v", line, err)
		}
	}
}

func TestMounts(t *testing.T) {
	root := real(t.TempDir())
	at := func(words ...string) string { return filepath.Join(append([]string{root}, words...)...) }
	for _, dir := range []string{at("plain"), at("hub", "snapshots", "1"), at("hub", "blobs"), at("own")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{at("plain", "a.gguf"), at("hub", "blobs", "b")} {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../../blobs/b", at("hub", "snapshots", "1", "config.json")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(at("hub", "snapshots", "1"), at("plain", "link")); err != nil {
		t.Fatal(err)
	}
	bind := func(from, to, how string) string { return "type=bind,source=" + from + ",target=" + to + how }
	plain, hub, blobs := at("plain"), at("hub", "snapshots", "1"), at("hub", "blobs")
	for _, c := range []struct {
		name, options string
		need          Need
		want          []string
	}{
		{"a folder", "", Need{Model: at("hub", "blobs")}, []string{bind(blobs, blobs, ",readonly")}},
		{"a file", "", Need{Model: at("hub", "blobs", "b"), Files: []string{at("hub", "blobs", "b")}}, []string{bind(blobs, blobs, ",readonly")}},
		{"a hub's folder", "", Need{Model: hub}, []string{bind(hub, hub, ",readonly"), bind(blobs, blobs, ",readonly")}},
		{"through a link", "", Need{Model: at("plain", "link")}, []string{
			bind(hub, at("plain", "link"), ",readonly"), bind(blobs, at("blobs"), ",readonly"),
		}},
		{"a folder of its own", "", Need{Write: at("own"), Model: at("own")}, []string{bind(at("own"), at("own"), "")}},
		{"another file", "", Need{Files: []string{at("hub", "snapshots", "1", "config.json")}}, []string{
			bind(at("hub", "blobs", "b"), at("hub", "snapshots", "1", "config.json"), ",readonly"),
		}},
		{"not there", "", Need{Model: "org/name", Files: []string{at("none"), "org/name", "8192"}}, nil},
		{"shown by -v", "-v /data:" + root + ":ro", Need{Model: plain}, nil},
		{"shown by --volume", "--volume=" + root + "/:" + root + "/", Need{Model: plain}, nil},
		{"shown by --mount", "--mount type=bind,src=/data,dst=" + blobs, Need{Model: blobs}, nil},
		{"another is shown", "-v /data:" + blobs + "er", Need{Model: blobs}, []string{bind(blobs, blobs, ",readonly")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := mounts(c.need, read(strings.Fields(c.options+" image"))); !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestRemove(t *testing.T) {
	got := Remove(strings.Fields("podman --remote run image"), "dyn-w0-1")
	if strings.Join(got, " ") != "podman --remote rm --force dyn-w0-1" {
		t.Errorf("got %q", got)
	}
	if !Removes(got, "dyn-") {
		t.Error("it is not known again")
	}
	for _, line := range []string{"rm --force dyn-w0-1", "sh rm --force dyn-w0-1", "docker rm --force mine", "docker rm -f dyn-w0", ""} {
		if Removes(strings.Fields(line), "dyn-") {
			t.Errorf("%q would be run", line)
		}
	}
}
