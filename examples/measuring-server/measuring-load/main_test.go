package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// load is one that ends when enough requests were answered, not by the clock.
func load(url string) Settings {
	return Settings{URLs: []string{url}, Clients: 4, Rate: 200, Duration: time.Hour, Timeout: time.Minute, KeepAlive: true}
}

func TestEveryRequestIsWrittenDown(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) >= 40 {
			stop()
		}
		if r.URL.Query().Get("name") != "a" {
			t.Error(r.URL)
		}
		if asked.Load()%2 == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		w.Write([]byte("ok"))
	}))
	defer server.Close()
	output := &bytes.Buffer{}
	writer := NewWriter(output)
	before := time.Now().UnixNano()
	if err := Send(ctx, load(server.URL+"/?name=a"), writer.Write); err != nil {
		t.Fatal(err)
	}
	if err := writer.Flush(); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(output).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(rows)) != asked.Load() {
		t.Fatalf("%d records of %d requests", len(rows), asked.Load())
	}
	seen := map[string]int{}
	for number, row := range rows {
		if len(row) != 12 || row[8] != strconv.Itoa(number) || row[4] != "2" || row[5] != "" {
			t.Fatal(row)
		}
		start, _ := strconv.ParseInt(row[0], 10, 64)
		latency, _ := strconv.ParseInt(row[2], 10, 64)
		if start < before || latency <= 0 || start+latency > time.Now().UnixNano() {
			t.Fatal(row)
		}
		seen[row[1]]++
	}
	if seen["200"] < 10 || seen["503"] < 10 || len(seen) != 2 {
		t.Fatal(seen)
	}
}

func TestARequestWithoutAnAnswerIsARecordWithItsReason(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	silent := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-silent }))
	defer server.Close()
	defer close(silent)
	settings := load(server.URL)
	settings.Clients, settings.Timeout = 1, 50*time.Millisecond
	var records []Record
	err := Send(ctx, settings, func(one Record) error {
		records = append(records, one)
		stop()
		return nil
	})
	if err != nil || len(records) == 0 {
		t.Fatal(records, err)
	}
	if one := records[0]; one.Status != 0 || one.Latency < 50*time.Millisecond || !strings.Contains(one.Error, "Client.Timeout") {
		t.Fatal(one)
	}
}

func TestTheLoadEndsWithItsTimeAndWhenRecordsCannotBeKept(t *testing.T) {
	settings := load("http://127.0.0.1:1/")
	settings.Duration = 100 * time.Millisecond
	refused := 0
	err := Send(context.Background(), settings, func(one Record) error {
		if !strings.Contains(one.Error, "connection refused") {
			t.Error(one)
		}
		refused++
		return nil
	})
	if err != nil || refused == 0 {
		t.Fatal(refused, err)
	}
	full := errors.New("no space left")
	settings.Duration = time.Hour
	if err := Send(context.Background(), settings, func(Record) error { return full }); !errors.Is(err, full) {
		t.Fatal(err)
	}
}

func TestALoadWithoutBoundsIsRefused(t *testing.T) {
	for option, words := range map[string]string{
		"-clients=0":      "from 1 to 10000",
		"-rate=0":         "above 0 and at most 1000",
		"-rate=NaN":       "above 0 and at most 1000",
		"-duration=9999h": "at most 24h0m0s",
		"-timeout=0":      "-timeout must be above 0",
	} {
		if err := run([]string{option, "http://127.0.0.1:1/"}, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", option, err)
		}
	}
	if err := run([]string{"-duration=1s"}, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "a URL is needed") {
		t.Error(err)
	}
}

func TestClientsTakeTurnsInTheURLs(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var asked [2]atomic.Int64
	urls := make([]string, len(asked))
	for i := range asked {
		server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			asked[i].Add(1)
			if asked[0].Load() > 5 && asked[1].Load() > 5 {
				stop()
			}
		}))
		defer server.Close()
		urls[i] = server.URL + "/"
	}
	settings := load(urls[0])
	settings.URLs = urls
	if err := Send(ctx, settings, func(Record) error { return nil }); err != nil {
		t.Fatal(err)
	}
}
