package main

import (
	"context"
	"fmt"
	"os"
	"time"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "accept:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	switch {
	case len(args) >= 2 && args[0] == "talk":
		tag := "a"
		if len(args) > 2 {
			tag = args[2]
		}
		return talk(ctx, args[1], tag)
	case len(args) == 2 && args[0] == "cached":
		return cached(args[1])
	case len(args) == 3 && args[0] == "forgot":
		return forgot(args[1], args[2])
	case len(args) == 3 && args[0] == "crowd":
		return crowd(ctx, args[1], args[2])
	}
	return fmt.Errorf("usage: accept talk URL [TAG] | cached FILE | crowd URL DYN | forgot FILE WORKER")
}
