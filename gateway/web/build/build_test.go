package main

import (
	"bytes"
	"io/fs"
	"os"
	"testing"
)

// What is committed is what the sources give: whoever changes a source and forgets `go generate ./gateway/web` is told here.
func TestBuildingAgainChangesNothing(t *testing.T) {
	files, err := build("..")
	if err != nil {
		t.Fatal(err)
	}
	committed := os.DirFS("../dist")
	for name, content := range files {
		old, err := fs.ReadFile(committed, name)
		if err != nil {
			t.Errorf("%s is built but not committed: run go generate ./gateway/web", name)
			continue
		}
		if !bytes.Equal(old, content) {
			t.Errorf("%s differs from what its sources give: run go generate ./gateway/web", name)
		}
	}
	err = fs.WalkDir(committed, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && files[name] == nil {
			t.Errorf("%s is committed but no source gives it: run go generate ./gateway/web", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
