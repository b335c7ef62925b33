package container

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mounts are the values of --mount for what the engine needs of this machine's
// files and the user's own options do not show it.
func mounts(n Need, has options) []string {
	shown := has.targets()
	var all []string
	show := func(from, to, how string) {
		if !slices.ContainsFunc(shown, func(dir string) bool { return inside(to, dir) }) {
			shown = append(shown, to)
			all = append(all, "type=bind,source="+from+",target="+to+how)
		}
	}
	if n.Write != "" {
		show(n.Write, n.Write, "")
	}
	for _, p := range places(n.Model) {
		show(p.from, p.to, ",readonly")
	}
	for _, path := range n.Files {
		if _, err := os.Stat(path); err == nil && filepath.IsAbs(path) {
			show(real(path), filepath.Clean(path), ",readonly")
		}
	}
	return all
}

// place is a folder or file of this machine, and where the engine looks for it.
type place struct{ from, to string }

// places are what has to be shown so that a model can be read: the folder of a
// file, since it may have several parts, and where links in it lead, since
// model hubs' folders consist of links. None when it is not there.
func places(path string) []place {
	info, err := os.Stat(path)
	if err != nil || !filepath.IsAbs(path) {
		return nil
	}
	dir := filepath.Clean(path)
	if !info.IsDir() {
		dir = filepath.Dir(dir)
	}
	all := []place{{real(dir), dir}}
	entries, _ := os.ReadDir(dir) // one that cannot be read the engine may yet read
	for _, e := range entries {
		to, err := os.Readlink(filepath.Join(dir, e.Name()))
		if err != nil {
			continue // no link
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(dir, to)
		}
		if from, err := filepath.EvalSymlinks(filepath.Join(dir, e.Name())); err == nil {
			all = append(all, place{filepath.Dir(from), filepath.Dir(to)})
		}
	}
	return all
}

// real is a path without links in it.
func real(path string) string {
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	return path
}

// targets are the paths inside the container that the options show something
// at.
func (all options) targets() (dirs []string) {
	for _, o := range all {
		switch o.name {
		case "v", "volume":
			parts := strings.Split(o.value, ":")
			dirs = append(dirs, filepath.Clean(parts[min(1, len(parts)-1)]))
		case "mount":
			for _, field := range strings.Split(o.value, ",") {
				if key, value, _ := strings.Cut(field, "="); key == "target" || key == "destination" || key == "dst" {
					dirs = append(dirs, filepath.Clean(value))
				}
			}
		}
	}
	return dirs
}

// inside reports whether a path is a folder or lies below it.
func inside(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
