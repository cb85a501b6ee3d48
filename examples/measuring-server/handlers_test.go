package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

var testNow = time.Now()

func get(t *testing.T, address string) *http.Response {
	t.Helper()
	response, err := (&http.Client{Timeout: 30 * time.Second}).Get(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	return response
}

func TestDebugPageAnswersWhileTheApplicationsLockIsHeld(t *testing.T) {
	dsn, _ := newSchema(t)
	a := newApplication(t, testSettings(t, dsn, "-stage", "bulk", "-flush-interval", "1h"))
	server := httptest.NewServer(a.routes())
	defer server.Close()
	sendHits(t, server.URL, 1, 3)
	a.stage.(*bulkStage).mutex.Lock()
	var document map[string]any
	err := json.NewDecoder(get(t, server.URL+"/debug/dbstats").Body).Decode(&document)
	a.stage.(*bulkStage).mutex.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	ingest := document["ingest"].(map[string]any)
	if ingest["accepted"] != 3.0 || ingest["queue"] != 3.0 || ingest["lag_min_seconds"] != nil {
		t.Fatalf("%v", document)
	}
}

func TestDocumentKeepsItsShape(t *testing.T) {
	dsn, _ := newSchema(t)
	a := newApplication(t, testSettings(t, dsn))
	server := httptest.NewServer(a.routes())
	defer server.Close()
	get(t, server.URL+"/debug/dbstats")
	sendHits(t, server.URL, 1, 2)
	response := get(t, server.URL+"/debug/dbstats")
	var document map[string]any
	if err := json.NewDecoder(response.Body).Decode(&document); err != nil {
		t.Fatal(err)
	}
	for path, fields := range map[string]string{
		"":           "build go http ingest pools stage",
		"pools":      "hits",
		"pools/hits": "ConnMaxIdleTime ConnMaxLifetime Idle InUse MaxIdleClosed MaxIdleConnections MaxIdleTimeClosed MaxLifetimeClosed MaxOpenConnections OpenConnections WaitCount WaitDuration",
		"ingest":     "accepted failed lag_max_seconds lag_min_seconds oldest_seconds queue queue_limit rejected stored",
		"http":       "accept_errors in_flight invalid",
		"go":         "goroutines heap_bytes max_procs version",
	} {
		at := document
		for _, key := range strings.Split(path, "/") {
			if key != "" {
				at = at[key].(map[string]any)
			}
		}
		var found []string
		for key := range at {
			found = append(found, key)
		}
		slices.Sort(found)
		if strings.Join(found, " ") != fields {
			t.Errorf("%q has %v", path, found)
		}
	}
	ingest := document["ingest"].(map[string]any)
	low, high := ingest["lag_min_seconds"].(float64), ingest["lag_max_seconds"].(float64)
	if low <= 0 || high < low {
		t.Errorf("lag %v to %v", low, high)
	}
}

func TestDocumentSaysHowThePoolIsSet(t *testing.T) {
	for _, example := range []struct {
		arguments string
		want      poolSettings
	}{
		{"-stage naive", poolSettings{MaxIdleConnections: 2}},
		{"-stage default", poolSettings{MaxIdleConnections: 2}},
		{"-max-idle 40", poolSettings{MaxIdleConnections: 30}},
		{"-max-open 0 -max-idle 40", poolSettings{MaxIdleConnections: 40}},
		{
			"-stage bulk -max-open 8 -max-idle 5 -conn-max-lifetime 5m -conn-max-idle-time 90s",
			poolSettings{MaxIdleConnections: 5, ConnMaxLifetime: 5 * time.Minute, ConnMaxIdleTime: 90 * time.Second},
		},
	} {
		s := testSettings(t, "u@tcp(127.0.0.1:1)/s", strings.Fields(example.arguments)...)
		d, err := openDatabase(s)
		if err != nil {
			t.Fatal(err)
		}
		a := &application{settings: s, database: d, counters: &counters{}}
		text, err := json.Marshal(a.stats("", testNow).Pools[poolName])
		d.pool.Close()
		var found poolSettings
		if err == nil {
			err = json.Unmarshal(text, &found)
		}
		if err != nil || found != example.want {
			t.Errorf("%s: %s, %v", example.arguments, text, err)
		}
	}
}

func TestDocumentNamesTheBuild(t *testing.T) {
	if build := readBuild("4f1c2d9"); build.Revision != "4f1c2d9" || build.Path != "measuring-server" {
		t.Errorf("%+v", build)
	}
	if text, err := json.Marshal(buildDocument{Path: "p"}); err != nil || string(text) != `{"path":"p"}` {
		t.Errorf("%s, %v", text, err)
	}
}

func TestHitsThatCannotBeStoredAreRefused(t *testing.T) {
	dsn, rows := newSchema(t)
	a := newApplication(t, testSettings(t, dsn))
	server := httptest.NewServer(a.routes())
	defer server.Close()
	for query, status := range map[string]int{
		"":                                  400,
		"?value=1":                          400,
		"?name=" + strings.Repeat("n", 192): 400,
		"?name=n&value=" + strings.Repeat("v", 256): 400,
		"?name=%ff": 400,
		"?name=" + url.QueryEscape(strings.Repeat("語", 191)) + "&value=" + strings.Repeat("v", 255): 200,
		"?name=quote'%22%5C&value=%00": 200,
		"?name=n":                      200,
	} {
		if response := get(t, server.URL+"/"+query); response.StatusCode != status {
			t.Errorf("%q was answered with %s", query, response.Status)
		}
	}
	if rows() != 3 || a.counters.invalid.Load() != 5 || a.counters.accepted.Load() != 3 {
		t.Fatalf("rows %d, %+v", rows(), a.stats("", testNow))
	}
	if response := get(t, server.URL+"/favicon.ico"); response.StatusCode != http.StatusNotFound {
		t.Errorf("another path was answered with %s", response.Status)
	}
	if response := get(t, server.URL+"/healthz"); response.StatusCode != http.StatusOK {
		t.Errorf("/healthz was answered with %s", response.Status)
	}
}

func TestKeepAliveOffClosesAfterHitsButNotAfterTheDebugPage(t *testing.T) {
	dsn, _ := newSchema(t)
	a := newApplication(t, testSettings(t, dsn, "-keep-alive=false"))
	server := httptest.NewServer(a.routes())
	defer server.Close()
	if !get(t, server.URL+"/?name=n").Close {
		t.Error("the connection stays open after a hit")
	}
	if get(t, server.URL+"/debug/dbstats").Close {
		t.Error("the connection is closed after the debug page")
	}
}
