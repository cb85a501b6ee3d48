package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestProfilesAreServed(t *testing.T) {
	dsn, _ := newSchema(t)
	a := newApplication(t, testSettings(t, dsn))
	server := httptest.NewServer(a.routes())
	defer server.Close()
	sendHits(t, server.URL, 1, 2)
	for _, path := range []string{"", "heap", "goroutine", "mutex", "block", "allocs?seconds=1", "profile?seconds=1"} {
		if response := get(t, server.URL+"/debug/pprof/"+path); response.StatusCode != http.StatusOK {
			t.Errorf("%s answers %s", path, response.Status)
		}
	}
}
