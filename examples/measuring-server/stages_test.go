package main

import (
	"context"
	"database/sql"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// sendHits sends `count` hits from `clients` connections at once; it returns how many answers had each status, and the
// body of the last answer that was not 200.
func sendHits(t *testing.T, url string, clients, count int) (map[int]int, string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	defer client.CloseIdleConnections()
	statuses, problem := map[int]int{}, ""
	var mutex sync.Mutex
	var left atomic.Int64
	left.Store(int64(count))
	var all sync.WaitGroup
	for range clients {
		all.Add(1)
		go func() {
			defer all.Done()
			for left.Add(-1) >= 0 {
				response, err := client.Get(url + "/?name=temperature&value=21.5")
				if err != nil {
					t.Error(err)
					return
				}
				body, _ := io.ReadAll(response.Body)
				response.Body.Close()
				mutex.Lock()
				statuses[response.StatusCode]++
				if response.StatusCode != http.StatusOK {
					problem = string(body)
				}
				mutex.Unlock()
			}
		}()
	}
	all.Wait()
	return statuses, problem
}

func TestEachStageStoresWhatItAccepts(t *testing.T) {
	for _, stage := range stageNames {
		t.Run(stage, func(t *testing.T) {
			dsn, rows := newSchema(t)
			a := newApplication(t, testSettings(t, dsn, "-stage", stage, "-flush-interval", "20ms", "-batch-size", "7"))
			server := httptest.NewServer(a.routes())
			defer server.Close()
			statuses, problem := sendHits(t, server.URL, 8, 120)
			if statuses[http.StatusOK] != 120 {
				t.Fatalf("answers %v, %s", statuses, problem)
			}
			a.stage.close(context.Background())
			c := a.counters
			if rows() != 120 || c.accepted.Load() != 120 || c.stored.Load() != 120 || c.failed.Load() != 0 || c.queue.Load() != 0 {
				t.Fatalf("rows %d, counters %+v", rows(), a.stats("", testNow))
			}
		})
	}
}

func TestNaiveStageReachesMaxConnectionsWhileItsPoolShowsZeros(t *testing.T) {
	dsn, rows := newSchema(t)
	a := newApplication(t, testSettings(t, dsn, "-stage", "naive", "-db-delay", "300ms"))
	server := httptest.NewServer(a.routes())
	defer server.Close()
	statuses, problem := sendHits(t, server.URL, 3*testMaxConnections, 3*testMaxConnections)
	if statuses[http.StatusInternalServerError] == 0 || !strings.Contains(problem, "1040") {
		t.Fatalf("answers %v, %q", statuses, problem)
	}
	c := a.counters
	if c.stored.Load() != rows() || c.accepted.Load() != c.stored.Load()+c.failed.Load() {
		t.Fatalf("rows %d, counters %+v", rows(), a.stats("", testNow))
	}
	if stats := a.database.pool.Stats(); stats != (sql.DBStats{}) {
		t.Fatalf("the served pool was used: %+v", stats)
	}
}

func TestDefaultPoolChurns(t *testing.T) {
	dsn, _ := newSchema(t)
	a := newApplication(t, testSettings(t, dsn, "-stage", "default", "-db-delay", "1ms"))
	server := httptest.NewServer(a.routes())
	defer server.Close()
	sendHits(t, server.URL, 16, 300)
	if stats := a.database.pool.Stats(); stats.MaxIdleClosed == 0 || stats.MaxOpenConnections != 0 {
		t.Fatalf("no connection above two idle ones was closed: %+v", stats)
	}
}

func TestDatabaseDelayMakesABoundedPoolWait(t *testing.T) {
	dsn, _ := newSchema(t)
	a := newApplication(t, testSettings(t, dsn, "-stage", "bounded", "-max-open", "2", "-max-idle", "2", "-db-delay", "20ms"))
	server := httptest.NewServer(a.routes())
	defer server.Close()
	sendHits(t, server.URL, 12, 36)
	stats := a.database.pool.Stats()
	if stats.MaxOpenConnections != 2 || stats.OpenConnections > 2 || stats.WaitCount == 0 || stats.WaitDuration == 0 {
		t.Fatalf("no request waited for one of two connections: %+v", stats)
	}
}

func TestFullQueueRejects(t *testing.T) {
	for _, stage := range []string{"bulk", "channel"} {
		t.Run(stage, func(t *testing.T) {
			dsn, rows := newSchema(t)
			a := newApplication(t, testSettings(t, dsn, "-stage", stage, "-flush-interval", "1h", "-queue-size", "10"))
			server := httptest.NewServer(a.routes())
			defer server.Close()
			statuses, _ := sendHits(t, server.URL, 4, 30)
			if statuses[http.StatusOK] != 10 || statuses[http.StatusServiceUnavailable] != 20 {
				t.Fatalf("answers %v", statuses)
			}
			document := a.stats("", time.Now()).Ingest
			if document.Accepted != 10 || document.Rejected != 20 || document.Queue != 10 || document.QueueLimit != 10 || document.OldestSeconds <= 0 {
				t.Fatalf("%+v", document)
			}
			a.stage.close(context.Background())
			if rows() != 10 {
				t.Fatalf("%d rows after the last flush", rows())
			}
		})
	}
}

func TestBatchThatFailsIsCountedAsLost(t *testing.T) {
	for _, stage := range []string{"bulk", "channel"} {
		t.Run(stage, func(t *testing.T) {
			dsn, rows := newSchema(t)
			a := newApplication(t, testSettings(t, dsn, "-stage", stage, "-flush-interval", "1h", "-batch-size", "4"))
			rename(t, dsn, "RENAME TABLE hits TO away")
			put := func(n int) {
				for range n {
					if err := a.stage.put(context.Background(), hit{name: "n", value: "v", received: testNow}); err != nil {
						t.Fatal(err)
					}
				}
			}
			put(6)
			a.stage.close(context.Background())
			rename(t, dsn, "RENAME TABLE away TO hits")
			c := a.counters
			if c.failed.Load() != 6 || c.stored.Load() != 0 || c.queue.Load() != 0 || rows() != 0 {
				t.Fatalf("rows %d, %+v", rows(), a.stats("", testNow).Ingest)
			}
		})
	}
}

func TestLastFlushEndsWithItsTime(t *testing.T) {
	dsn, _ := newSchema(t)
	a := newApplication(t, testSettings(t, dsn, "-stage", "channel", "-flush-interval", "1h", "-db-delay", "1h"))
	if err := a.stage.put(context.Background(), hit{name: "n", value: "v", received: testNow}); err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(context.Background())
	cancel()
	a.stage.close(over)
	if a.counters.failed.Load() != 1 {
		t.Fatalf("the hit is not counted as lost: %+v", a.stats("", testNow).Ingest)
	}
}

func rename(t *testing.T, dsn, statement string) {
	t.Helper()
	pool, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if _, err := pool.Exec(statement); err != nil {
		t.Fatal(err)
	}
}
