package shelf

import (
	"archive/zip"
	"bytes"
	"fmt"
	"html"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// Shelf is a folder of packages. Its methods are for one goroutine; what
// Handler returns is for many.
type Shelf struct{ Dir string }

// File is one of a package.
type File struct {
	Path, Text string
	Program    bool // it can be run
}

// Add makes a package for every Python and every machine.
func (s Shelf) Add(name, version string, files ...File) error {
	under := strings.ReplaceAll(name, "-", "_")
	info := under + "-" + version + ".dist-info/"
	files = append(files,
		File{Path: info + "METADATA", Text: fmt.Sprintf("Metadata-Version: 2.1\nName: %s\nVersion: %s\n", name, version)},
		File{Path: info + "WHEEL", Text: "Wheel-Version: 1.0\nGenerator: shelf\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
	)
	var record strings.Builder
	for _, f := range files {
		fmt.Fprintf(&record, "%s,,\n", f.Path)
	}
	fmt.Fprintf(&record, "%sRECORD,,\n", info)
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range append(files, File{Path: info + "RECORD", Text: record.String()}) {
		h := &zip.FileHeader{Name: f.Path, Method: zip.Deflate}
		h.SetMode(0o644)
		if f.Program {
			h.SetMode(0o755)
		}
		w, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := w.Write([]byte(f.Text)); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.Dir, under+"-"+version+"-py3-none-any.whl"), b.Bytes(), 0o644)
}

// Handler serves the packages that are there now, below /simple.
func (s Shelf) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/files/", http.StripPrefix("/files/", http.FileServer(http.Dir(s.Dir))))
	mux.HandleFunc("/simple/{name}/", func(w http.ResponseWriter, r *http.Request) {
		files, _ := filepath.Glob(filepath.Join(s.Dir, "*.whl")) // the pattern is good
		for _, f := range files {
			name := html.EscapeString(filepath.Base(f))
			if strings.HasPrefix(name, strings.ReplaceAll(r.PathValue("name"), "-", "_")+"-") {
				fmt.Fprintf(w, "<a href=\"/files/%s\">%s</a>\n", name, name)
			}
		}
	})
	return mux
}
