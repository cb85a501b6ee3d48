package main

import (
	"math"
	"sync/atomic"
	"time"
)

// maxReaders bounds the cost that readers add to each stored hit.
const maxReaders = 8

// counters is all that the debug page reports about ingest. Everything in it is atomic: whoever reads it never waits
// for a lock that a slow database makes a request hold.
type counters struct {
	accepted atomic.Int64 // hits taken; each ends up as stored or failed
	stored   atomic.Int64
	failed   atomic.Int64
	rejected atomic.Int64 // answered 503 because the queue was full; not accepted
	invalid  atomic.Int64 // answered 400; not accepted
	inFlight atomic.Int64 // requests for a hit that are being handled now
	queue    atomic.Int64 // hits in memory, also those in the statement being executed
	oldest   atomic.Int64 // when the oldest of these was received, unix nanoseconds; 0 = none

	acceptErrors atomic.Int64
	lag          lagReaders
}

// finish books hits whose statement has ended.
func (c *counters) finish(hits []hit, err error) {
	if err != nil {
		c.failed.Add(int64(len(hits)))
		return
	}
	now := time.Now()
	for _, h := range hits {
		c.lag.add(now.Sub(h.received))
	}
	c.stored.Add(int64(len(hits)))
}

// lagWindow holds the lowest and highest lag since its reader last asked.
type lagWindow struct {
	reader string
	low    atomic.Int64 // nanoseconds; math.MaxInt64 = nothing stored since
	high   atomic.Int64 // nanoseconds; -1 = nothing stored since
}

func newLagWindow(reader string) *lagWindow {
	w := &lagWindow{reader: reader}
	w.low.Store(math.MaxInt64)
	w.high.Store(-1)
	return w
}

func (w *lagWindow) add(lag int64) {
	for low := w.low.Load(); lag < low && !w.low.CompareAndSwap(low, lag); low = w.low.Load() {
	}
	for high := w.high.Load(); lag > high && !w.high.CompareAndSwap(high, lag); high = w.high.Load() {
	}
}

// lagReaders keeps one window for each reader, so that one reader's question does not take the answer from another.
// A reader gives its name with the question; all that give none share a window. The first question of a new name
// opens its window and so is answered with nothing.
type lagReaders struct {
	windows [maxReaders]atomic.Pointer[lagWindow]
}

func (l *lagReaders) add(lag time.Duration) {
	// The clock's step back, should there be one, must not show as a lag below zero.
	nanoseconds := max(int64(lag), 0)
	for i := range l.windows {
		w := l.windows[i].Load()
		if w == nil {
			return
		}
		w.add(nanoseconds)
	}
}

// take returns the lowest and highest lag since this reader's last take, and starts its window anew. `ok` is false
// when nothing was stored since. When all windows are taken by other names, the reader shares the first.
func (l *lagReaders) take(reader string) (low, high time.Duration, ok bool) {
	w := l.window(reader)
	lowest, highest := w.low.Swap(math.MaxInt64), w.high.Swap(-1)
	if lowest == math.MaxInt64 || highest < 0 {
		return 0, 0, false
	}
	return time.Duration(lowest), time.Duration(highest), true
}

func (l *lagReaders) window(reader string) *lagWindow {
	fresh := newLagWindow(reader)
	for i := range l.windows {
		w := l.windows[i].Load()
		if w == nil {
			if l.windows[i].CompareAndSwap(nil, fresh) {
				return fresh
			}
			w = l.windows[i].Load()
		}
		if w.reader == reader {
			return w
		}
	}
	return l.windows[0].Load()
}
