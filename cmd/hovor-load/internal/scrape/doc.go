// Package scrape reads a server's /metrics page.
//
// It owns one request and the sums of what it finds. It never keeps a connection or a history.
package scrape
