package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"net/http"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
	"unicode/utf8"
)

const (
	longestName  = 191
	longestValue = 255
	poolName     = "hits"
)

// application holds what the handlers need.
type application struct {
	settings settings
	database database
	stage    stage
	counters *counters
	troubles *troubles
	build    buildDocument
	dropper  dropper
	running  context.Context // ends when the server cannot wait for statements any longer
}

func (a *application) routes() http.Handler {
	routes := http.NewServeMux()
	routes.HandleFunc("GET /{$}", labelled("/", a.takeHit))
	routes.HandleFunc("GET /debug/dbstats", a.showStats)
	routes.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	showProfiles(routes)
	return routes
}

func (a *application) takeHit(w http.ResponseWriter, r *http.Request) {
	received := time.Now()
	a.counters.inFlight.Add(1)
	defer a.counters.inFlight.Add(-1)
	if !a.settings.keepAlive {
		// Hits only: a poller of the debug page keeps its connection, and so still sees a server that is out of files.
		w.Header().Set("Connection", "close")
	}
	query := r.URL.Query()
	name, value := query.Get("name"), query.Get("value")
	if problem := checkHit(name, value); problem != "" {
		a.counters.invalid.Add(1)
		http.Error(w, problem, http.StatusBadRequest)
		return
	}
	burn(a.settings.cpuPerHit)
	if a.dropper.drops(a.settings.dropShare) {
		a.counters.accepted.Add(1)
		_, _ = w.Write([]byte("ok\n"))
		return
	}
	err := a.stage.put(a.contextOf(r.Context()), hit{name: name, value: value, received: received})
	switch {
	case errors.Is(err, errQueueFull):
		a.counters.rejected.Add(1)
		a.troubles.report("rejected a hit", err)
		http.Error(w, "the queue is full, try again later", http.StatusServiceUnavailable)
	case err != nil:
		a.troubles.report("cannot store a hit", err)
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		_, _ = w.Write([]byte("ok\n"))
	}
}

func checkHit(name, value string) string {
	switch {
	case name == "":
		return "the parameter name is missing: GET /?name=…&value=…"
	case !utf8.ValidString(name) || !utf8.ValidString(value):
		return "name and value must be UTF-8"
	case utf8.RuneCountInString(name) > longestName:
		return "the parameter name is longer than 191 characters"
	case utf8.RuneCountInString(value) > longestValue:
		return "the parameter value is longer than 255 characters"
	}
	return ""
}

// statsDocument is the body of /debug/dbstats; docs/guide/go-dbstats.md describes it. Fields may be added to it,
// never renamed or removed.
type statsDocument struct {
	Stage  string                  `json:"stage"`
	Pools  map[string]poolDocument `json:"pools"`
	Ingest ingestDocument          `json:"ingest"`
	HTTP   httpDocument            `json:"http"`
	Go     goDocument              `json:"go"`
	Build  buildDocument           `json:"build"`
}

// poolDocument is one object in JSON: the fields of both.
type poolDocument struct {
	sql.DBStats
	poolSettings
}

// buildDocument says which program answers; what is not known is left out.
type buildDocument struct {
	Path     string `json:"path,omitempty"`
	Version  string `json:"version,omitempty"`
	Revision string `json:"revision,omitempty"`
}

type ingestDocument struct {
	Accepted      int64    `json:"accepted"`
	Stored        int64    `json:"stored"`
	Failed        int64    `json:"failed"`
	Rejected      int64    `json:"rejected"`
	Queue         int64    `json:"queue"`
	QueueLimit    int64    `json:"queue_limit"` // 0: the stage has no queue
	LagMinSeconds *float64 `json:"lag_min_seconds"`
	LagMaxSeconds *float64 `json:"lag_max_seconds"` // null: nothing was stored since the last read
	OldestSeconds float64  `json:"oldest_seconds"`
}

type httpDocument struct {
	InFlight     int64 `json:"in_flight"`
	Invalid      int64 `json:"invalid"`
	AcceptErrors int64 `json:"accept_errors"`
}

type goDocument struct {
	Version    string `json:"version"`
	Goroutines int    `json:"goroutines"`
	MaxProcs   int    `json:"max_procs"`
	HeapBytes  uint64 `json:"heap_bytes"`
}

// showStats answers without any lock of the application: it must answer exactly when the application is stuck.
func (a *application) showStats(w http.ResponseWriter, r *http.Request) {
	body, err := json.Marshal(a.stats(r.URL.Query().Get("reader"), time.Now()))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(append(body, '\n'))
}

func (a *application) stats(reader string, now time.Time) statsDocument {
	c := a.counters
	// Read against the flow of a hit, so that no document shows more hits stored than accepted.
	ingest := ingestDocument{Failed: c.failed.Load(), Stored: c.stored.Load()}
	ingest.Accepted = c.accepted.Load()
	ingest.Rejected = c.rejected.Load()
	ingest.Queue = c.queue.Load()
	if a.settings.stage == "bulk" || a.settings.stage == "channel" {
		ingest.QueueLimit = int64(a.settings.queueSize)
	}
	if low, high, ok := c.lag.take(reader); ok {
		lowest, highest := low.Seconds(), high.Seconds()
		ingest.LagMinSeconds, ingest.LagMaxSeconds = &lowest, &highest
	}
	if oldest := c.oldest.Load(); oldest != 0 {
		ingest.OldestSeconds = max(now.Sub(time.Unix(0, oldest)).Seconds(), 0)
	}
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(heap)
	return statsDocument{
		Stage:  a.settings.stage,
		Pools:  map[string]poolDocument{poolName: {a.database.pool.Stats(), a.database.set}},
		Ingest: ingest,
		HTTP: httpDocument{
			InFlight: c.inFlight.Load(), Invalid: c.invalid.Load(), AcceptErrors: c.acceptErrors.Load(),
		},
		Go: goDocument{
			Version: runtime.Version(), Goroutines: runtime.NumGoroutine(), MaxProcs: runtime.GOMAXPROCS(0),
			HeapBytes: heap[0].Value.Uint64(),
		},
		Build: a.build,
	}
}

// readBuild asks Go which module and commit the program was made of; `revision` stands in the place of Go's.
func readBuild(revision string) buildDocument {
	document := buildDocument{Revision: revision}
	information, ok := debug.ReadBuildInfo()
	if !ok {
		return document
	}
	document.Path, document.Version = information.Main.Path, information.Main.Version
	for _, setting := range information.Settings {
		if setting.Key == "vcs.revision" && revision == "" {
			document.Revision = setting.Value
		}
	}
	return document
}
