package engine

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/agentinfer/dyn/engine/secret"
)

// Limits of a worker's log: the file is moved aside when it is longer than
// maxLog, one old file is kept, and a tail looks at the last tailBytes.
const (
	maxLog    = 16 << 20
	tailBytes = 64 << 10
)

// openLog opens a log for appending and tells where the new part begins. The
// child writes to the file itself, so that its output needs no goroutine and
// outlives the daemon.
func openLog(path string) (*os.File, int64, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, 0, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, 0, err
	}
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, end, nil
}

// trimLog moves a log that has grown too long aside, while the child goes on
// to append to the same file. Lines that are written between the copy and the
// cut are lost.
func trimLog(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.Size() <= maxLog {
		return err
	}
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(path+".1", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	if closed := to.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Truncate(path, 0)
}

// tail returns the last n lines of a file that lie after an offset.
func tail(path string, from int64, n int) []string {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil
	}
	if from > end { // it was trimmed since
		from = 0
	}
	from = max(from, end-tailBytes)
	data, err := io.ReadAll(io.NewSectionReader(f, from, end-from))
	if err != nil {
		return nil
	}
	var lines []string
	for line := range bytes.Lines(data) {
		if text := strings.TrimRight(string(line), " \r\n\t"); text != "" {
			lines = append(lines, strings.ToValidUTF8(text, "\uFFFD"))
		}
	}
	return lines[max(0, len(lines)-n):]
}

// redact puts dots in place of secrets, those and what looks like one.
func redact(lines, secrets []string) []string {
	for i := range lines {
		lines[i] = secret.Hide(lines[i], secrets...)
	}
	return lines
}

// blame picks the lines that tell why an engine did not start: the last ones,
// and before them the last line that looks like the cause. Engines of several
// processes print the cause first and then much about who noticed.
func blame(lines []string, n int) []string {
	last := lines[max(0, len(lines)-n):]
	for i := len(lines) - 1; i >= 0; i-- {
		if !strings.Contains(lines[i], "Error: ") || strings.Contains(lines[i], "See root cause above") {
			continue
		}
		if i < len(lines)-len(last) {
			return append([]string{lines[i]}, last[1:]...)
		}
		break
	}
	return last
}
