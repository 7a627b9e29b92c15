package web

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

func get(t *testing.T, method, target string, header ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, target, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, res *http.Response) []byte {
	t.Helper()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestThePageAndEverythingItNamesIsServed(t *testing.T) {
	res := get(t, "GET", "/")
	if res.StatusCode != http.StatusOK || res.Header.Get("Cache-Control") != "no-cache" {
		t.Fatalf("index: %d, Cache-Control %q", res.StatusCode, res.Header.Get("Cache-Control"))
	}
	index := body(t, res)
	names := regexp.MustCompile(`(?:src|href)="(/[^"]+)"`).FindAllSubmatch(index, -1)
	if len(names) < 4 {
		t.Fatalf("the index names %d files; script, style, font and icon are wanted", len(names))
	}
	for _, m := range names {
		res := get(t, "GET", string(m[1]))
		if res.StatusCode != http.StatusOK {
			t.Errorf("%s: %d", m[1], res.StatusCode)
		}
		if !strings.Contains(res.Header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s may be kept for ever, its name holds its hash; Cache-Control is %q", m[1], res.Header.Get("Cache-Control"))
		}
	}
}

func TestNothingInlineAndNothingFromElsewhere(t *testing.T) {
	res := get(t, "GET", "/")
	if csp := res.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "script-src 'self';") || strings.Contains(csp, "unsafe") || strings.Contains(csp, "blob:") {
		t.Errorf("policy: %q", csp)
	}
	index := string(body(t, res))
	for _, bad := range []string{"<style", " style=", "onclick=", "http://", "https://"} {
		if strings.Contains(index, bad) {
			t.Errorf("the index holds %q", bad)
		}
	}
}

func TestCompressedFormIsTheSameFile(t *testing.T) {
	plain := body(t, get(t, "GET", "/client.js"))
	for header, want := range map[string]string{"gzip": "gzip", "br, gzip;q=0.5": "gzip", "gzip;q=0": "", "": "", "br": ""} {
		res := get(t, "GET", "/client.js", "Accept-Encoding", header)
		if got := res.Header.Get("Content-Encoding"); got != want {
			t.Errorf("Accept-Encoding %q gives Content-Encoding %q", header, got)
			continue
		}
		b := body(t, res)
		if want == "gzip" {
			z, err := gzip.NewReader(bytes.NewReader(b))
			if err != nil {
				t.Fatal(err)
			}
			if b, err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(b, plain) {
			t.Errorf("Accept-Encoding %q gives another file", header)
		}
	}
}

func TestUnchangedFilesAreNotSentAgain(t *testing.T) {
	first := get(t, "GET", "/", "Accept-Encoding", "gzip")
	again := get(t, "GET", "/", "Accept-Encoding", "gzip", "If-None-Match", first.Header.Get("ETag"))
	if again.StatusCode != http.StatusNotModified || len(body(t, again)) != 0 {
		t.Errorf("a known file: %d", again.StatusCode)
	}
	other := get(t, "GET", "/", "If-None-Match", first.Header.Get("ETag"))
	if other.StatusCode != http.StatusOK {
		t.Errorf("the compressed form's tag stood for the plain form")
	}
}

func TestOnlyReadingAndOnlyWhatIsThere(t *testing.T) {
	for _, c := range []struct {
		method, target string
		want           int
	}{
		{"HEAD", "/", http.StatusOK}, {"POST", "/", http.StatusMethodNotAllowed}, {"GET", "/v1/realtime/calls", http.StatusNotFound},
		{"GET", "/../handler.go", http.StatusNotFound}, {"GET", "/assets/", http.StatusNotFound}, {"GET", "/index.html", http.StatusOK},
	} {
		if res := get(t, c.method, c.target); res.StatusCode != c.want {
			t.Errorf("%s %s: %d, want %d", c.method, c.target, res.StatusCode, c.want)
		}
	}
	if res := get(t, "HEAD", "/"); len(body(t, res)) != 0 {
		t.Error("HEAD has a body")
	}
}

// The page is meant to open at once on a slow link.
func TestThePageIsLight(t *testing.T) {
	sum := 0
	index := body(t, get(t, "GET", "/"))
	for _, m := range regexp.MustCompile(`(?:src|href)="(/[^"]+\.(?:js|css))"`).FindAllSubmatch(index, -1) {
		sum += len(body(t, get(t, "GET", string(m[1]), "Accept-Encoding", "gzip")))
	}
	if sum > 40<<10 {
		t.Errorf("script and style are %d bytes compressed, more than 40 KB", sum)
	}
	t.Logf("script and style: %d bytes compressed", sum)
}
