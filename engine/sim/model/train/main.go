package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

// entries is the size of the vocabulary, added tokens included.
const entries = 8000

func main() {
	root := flag.String("root", ".", "folder whose text to train on")
	out := flag.String("out", "engine/sim/model", "folder to write to")
	flag.Parse()
	if err := run(os.Stdout, *root, *out); err != nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}

// run trains on the text under root and writes the model folder to out.
func run(log io.Writer, root, out string) error {
	text, files, err := read(root)
	if err != nil {
		return err
	}
	fmt.Fprintf(log, "read %d files, %d bytes\n", files, len(text))
	words := count(text)
	t := newTrainer(words)
	t.train(entries - len(specials))
	if got := len(t.tokens) + len(specials); got != entries {
		return fmt.Errorf("the text gives %d entries only, want %d: train on more", got, entries)
	}
	if err := write(out, t); err != nil {
		return err
	}
	fmt.Fprintf(log, "wrote %d entries to %s, rarest merge seen %d times\n", entries, out, t.rarest)
	fmt.Fprintln(log, "repeat with: go run ./engine/sim/model/train")
	return nil
}
