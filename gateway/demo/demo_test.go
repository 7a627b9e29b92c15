package demo

import "testing"

func TestTheDemoCatalogueLoads(t *testing.T) {
	c, err := Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(c.Entries()); n != 10 {
		t.Fatalf("%d tools, want 10", n)
	}
}
