package main

import (
	"fmt"
	"testing"
	"time"
)

func TestLagIsKeptForEachReader(t *testing.T) {
	var lag lagReaders
	for _, reader := range []string{"agent", "person"} {
		if _, _, ok := lag.take(reader); ok {
			t.Fatalf("%s was answered before anything was stored", reader)
		}
	}
	lag.add(30 * time.Millisecond)
	lag.add(10 * time.Millisecond)
	lag.add(20 * time.Millisecond)
	for _, reader := range []string{"agent", "person"} {
		low, high, ok := lag.take(reader)
		if !ok || low != 10*time.Millisecond || high != 30*time.Millisecond {
			t.Fatalf("%s was told %s to %s, %t", reader, low, high, ok)
		}
	}
	if _, _, ok := lag.take("agent"); ok {
		t.Fatal("a window was answered twice")
	}
	lag.add(-time.Second)
	if low, high, ok := lag.take("agent"); !ok || low != 0 || high != 0 {
		t.Fatalf("a clock that stepped back shows as %s to %s", low, high)
	}
}

func TestReadersBeyondTheLimitShareAWindow(t *testing.T) {
	var lag lagReaders
	for i := range maxReaders + 3 {
		lag.take(fmt.Sprint(i))
	}
	lag.add(time.Second)
	if _, high, ok := lag.take("one too many"); !ok || high != time.Second {
		t.Fatal("the reader got no window at all")
	}
	if _, _, ok := lag.take("0"); ok {
		t.Fatal("the shared window was not the first one")
	}
}
