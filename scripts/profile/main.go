package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := clean(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "profile:", err)
		os.Exit(1)
	}
}

// clean copies a profile, with its paths made empty.
func clean(r io.Reader, w io.Writer) error {
	z, err := gzip.NewReader(r)
	if err != nil {
		return err
	}
	b, err := io.ReadAll(z)
	if err != nil {
		return err
	}
	if b, err = withoutPaths(b); err != nil {
		return err
	}
	out, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := out.Write(b); err != nil {
		return err
	}
	return out.Close()
}

// The kinds of fields of a protocol buffer that a profile has, and the number
// of the field that holds its strings.
const (
	varint  = 0
	counted = 2
	strings = 6
)

var errShort = errors.New("the profile ends within a field")

// withoutPaths empties the strings that are absolute paths. The other fields
// refer to strings by their number, so they keep their places.
func withoutPaths(b []byte) ([]byte, error) {
	var out []byte
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		size, m := uint64(0), 0
		if n > 0 {
			size, m = binary.Uvarint(b[n:])
		}
		if m <= 0 {
			return nil, errShort
		}
		switch end := n + m; {
		case tag&7 == varint:
			out = append(out, b[:end]...)
			b = b[end:]
		case tag&7 != counted:
			return nil, fmt.Errorf("field %d is of kind %d, which no profile has", tag>>3, tag&7)
		case size > uint64(len(b)-end):
			return nil, errShort
		default:
			value := b[end : end+int(size)]
			if tag>>3 == strings && bytes.HasPrefix(value, []byte("/")) {
				value = nil
			}
			out = binary.AppendUvarint(out, tag)
			out = binary.AppendUvarint(out, uint64(len(value)))
			out = append(out, value...)
			b = b[end+int(size):]
		}
	}
	return out, nil
}
