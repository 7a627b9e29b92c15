package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	root := "." // go generate runs in the directory of the package that asks for it
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	if err := run(root); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

// run builds into a fresh map first, so that a failing build leaves the old dist as it was.
func run(root string) error {
	files, err := build(root)
	if err != nil {
		return err
	}
	out := filepath.Join(root, "dist")
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	for name, content := range files {
		p := filepath.Join(out, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(p, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
