package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

func TestDroppedHitsAreAcceptedAndCountedNowhereElse(t *testing.T) {
	dsn, rows := newSchema(t)
	a := newApplication(t, testSettings(t, dsn, "-drop-share", "0.25"))
	server := httptest.NewServer(a.routes())
	defer server.Close()
	sendHits(t, server.URL, 1, 20)
	c := a.counters
	if c.accepted.Load() != 20 || c.stored.Load() != 15 || c.failed.Load() != 0 || c.rejected.Load() != 0 || rows() != 15 {
		t.Fatalf("accepted %d, stored %d, failed %d, rows %d", c.accepted.Load(), c.stored.Load(), c.failed.Load(), rows())
	}
}

func TestBurningTakesCPUTimeOfThisThread(t *testing.T) {
	before := time.Now()
	burn(20 * time.Millisecond)
	if time.Since(before) < 20*time.Millisecond {
		t.Fatal("the CPU time cannot have been used in less time than it is")
	}
}

func TestAClientThatGivesUpEndsItsStatementOnlyWhenTold(t *testing.T) {
	for _, example := range []struct {
		flag  string
		fails int64
	}{{"-cancel-with-client=true", 1}, {"-cancel-with-client=false", 0}} {
		dsn, rows := newSchema(t)
		a := newApplication(t, testSettings(t, dsn, "-db-delay", "300ms", example.flag))
		server := httptest.NewServer(a.routes())
		ctx, giveUp := context.WithCancel(context.Background())
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/?name=a&value=1", nil)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for a.database.pool.Stats().InUse == 0 {
				time.Sleep(time.Millisecond)
			}
			giveUp()
		}()
		if answer, err := http.DefaultClient.Do(request); err == nil {
			answer.Body.Close()
			t.Fatal("the request was answered")
		}
		c := a.counters
		waitFor(t, "the hit to end", func() bool { return c.stored.Load()+c.failed.Load() == 1 })
		if c.failed.Load() != example.fails || rows() != 1-example.fails {
			t.Fatalf("%s: %d failed, %d rows", example.flag, c.failed.Load(), rows())
		}
		server.Close()
	}
}
