package main

import (
	"context"
	"net/http"
	"net/http/pprof"
	"runtime"
	labels "runtime/pprof"
)

const (
	mutexFraction = 100       // one of so many waits for a mutex is written down
	blockRate     = 1_000_000 // ns: one event for each millisecond that goroutines wait
)

// recordWaits switches on the profiles of mutexes and of waits, which Go leaves empty until it is told.
func recordWaits() {
	runtime.SetMutexProfileFraction(mutexFraction)
	runtime.SetBlockProfileRate(blockRate)
}

// showProfiles serves what `go tool pprof` and Loadwatch's agent ask for.
func showProfiles(routes *http.ServeMux) {
	routes.HandleFunc("GET /debug/pprof/", pprof.Index)
	routes.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	routes.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	routes.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
}

// labelled has CPU profiles say which route the time went to.
func labelled(route string, handle http.HandlerFunc) http.HandlerFunc {
	names := labels.Labels("route", route)
	return func(w http.ResponseWriter, r *http.Request) {
		labels.Do(r.Context(), names, func(ctx context.Context) { handle(w, r.WithContext(ctx)) })
	}
}
