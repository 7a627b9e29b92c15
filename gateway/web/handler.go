package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
)

//go:embed all:dist
var dist embed.FS

// policy is the page's Content-Security-Policy: scripts, styles, fonts and requests from this origin alone, nothing inline,
// nobody may frame it. The microphone and the remote audio are streams, which no directive concerns.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; " +
	"connect-src 'self'; media-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// asset is one built file, ready to be written.
type asset struct {
	contentType string
	plain       []byte
	gzip        []byte // nil when compression does not make it smaller
	etag        string // strong, quoted; the gzip form has its own
	immutable   bool   // the name holds a hash of the content
}

// Handler serves the built page: index.html at "/", hashed files under "/assets/", and the headless client as "/client.js".
// Everything else is 404. It answers GET and HEAD only, and keeps every file compressed in memory (about 300 KB in all).
func Handler() http.Handler {
	root, err := fs.Sub(dist, "dist")
	if err != nil {
		panic("web: the embedded page is missing: " + err.Error()) // cannot happen in a binary that was built
	}
	return newHandler(root)
}

func newHandler(root fs.FS) http.Handler {
	assets := load(root)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "this address can only be read", http.StatusMethodNotAllowed)
			return
		}
		name := r.URL.Path
		if name == "/" {
			name = "/index.html"
		}
		a, ok := assets[name]
		if !ok {
			http.NotFound(w, r)
			return
		}
		a.serve(w, r)
	})
}

// load reads every file once and prepares its compressed form. A file that cannot be read is left out (and answered with 404).
func load(root fs.FS) map[string]*asset {
	assets := make(map[string]*asset)
	_ = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		plain, err := fs.ReadFile(root, name)
		if err != nil {
			return nil
		}
		assets["/"+name] = newAsset(name, plain)
		return nil
	})
	return assets
}

func newAsset(name string, plain []byte) *asset {
	sum := sha256.Sum256(plain)
	a := &asset{
		contentType: contentType(name),
		plain:       plain,
		etag:        base64.RawURLEncoding.EncodeToString(sum[:12]),
		immutable:   strings.HasPrefix(name, "assets/"),
	}
	if path.Ext(name) == ".woff2" { // compressed already
		return a
	}
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	_, _ = z.Write(plain)
	_ = z.Close()
	if b.Len() < len(plain) {
		a.gzip = b.Bytes()
	}
	return a
}

// contentType does not ask the operating system's tables for the types we ship, so that every machine answers alike.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".woff2":
		return "font/woff2"
	case ".txt":
		return "text/plain; charset=utf-8"
	}
	if t := mime.TypeByExtension(path.Ext(name)); t != "" {
		return t
	}
	return "application/octet-stream"
}

func (a *asset) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", a.contentType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", policy)
	h.Set("Permissions-Policy", "microphone=(self), camera=(), geolocation=()")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Vary", "Accept-Encoding")
	if a.immutable {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	} else {
		h.Set("Cache-Control", "no-cache")
	}

	body, etag := a.plain, `"`+a.etag+`"`
	if a.gzip != nil && acceptsGzip(r.Header.Get("Accept-Encoding")) {
		body, etag = a.gzip, `"`+a.etag+`-gzip"`
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("ETag", etag)
	if matches(r.Header.Get("If-None-Match"), etag) {
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method == http.MethodHead {
		return
	}
	_, _ = w.Write(body)
}

// acceptsGzip reads Accept-Encoding (RFC 9110, 12.5.3) as far as it matters here: gzip named, and not with weight zero.
func acceptsGzip(header string) bool {
	for part := range strings.SplitSeq(header, ",") {
		name, params, _ := strings.Cut(strings.TrimSpace(part), ";")
		if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
			continue
		}
		q := strings.TrimSpace(params)
		if q == "" {
			return true
		}
		weight, err := strconv.ParseFloat(strings.TrimPrefix(q, "q="), 64)
		return err == nil && weight > 0
	}
	return false
}

// matches compares If-None-Match weakly (RFC 9110, 13.1.2).
func matches(header, etag string) bool {
	for part := range strings.SplitSeq(header, ",") {
		p := strings.TrimPrefix(strings.TrimSpace(part), "W/")
		if p == "*" || p == etag {
			return true
		}
	}
	return false
}
