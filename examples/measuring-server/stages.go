package main

import (
	"context"
	"errors"
	"sync"
	"time"
)

var errQueueFull = errors.New("the queue is full")

// stage stores hits in its own way. `put` is called by many requests at once; its error means that the hit is not
// stored (or, for errQueueFull, was not accepted). `close` is called once, after the last put, and writes what is
// still in memory.
type stage interface {
	put(ctx context.Context, h hit) error
	close(ctx context.Context)
}

// newStage is the list of the stages. `shared` is the pool that the debug page shows.
func newStage(s settings, shared database, c *counters, report func(error)) stage {
	switch s.stage {
	case "naive":
		return &naiveStage{settings: s, counters: c}
	case "bulk":
		return newBulkStage(s, newBatches(s, shared, c, report))
	case "channel":
		return newChannelStage(s, newBatches(s, shared, c, report))
	default: // default, bounded: they differ in the limits of the pool only
		return &directStage{database: shared, counters: c}
	}
}

// naiveStage opens a pool for each request: connections reach max_connections.
type naiveStage struct {
	settings settings
	counters *counters
}

func (n *naiveStage) put(ctx context.Context, h hit) error {
	n.counters.accepted.Add(1)
	d, err := openDatabase(n.settings)
	if err == nil {
		defer d.pool.Close()
		err = d.insert(ctx, h)
	}
	n.counters.finish([]hit{h}, err)
	return err
}

func (n *naiveStage) close(context.Context) {}

// directStage writes within the request over the shared pool: with database/sql's defaults (no limit, two idle
// connections) it churns through connections, with a limit requests wait for one.
type directStage struct {
	database database
	counters *counters
}

func (d *directStage) put(ctx context.Context, h hit) error {
	d.counters.accepted.Add(1)
	err := d.database.insert(ctx, h)
	d.counters.finish([]hit{h}, err)
	return err
}

func (d *directStage) close(context.Context) {}

// batches writes hits from memory, the oldest first. A batch that fails is lost and counted: the request that brought
// its hits was answered long ago.
type batches struct {
	database database
	counters *counters
	size     int
	swap     bool // hits left the queue before they came here
	report   func(error)

	ctx    context.Context // ends when the last flush has used up its time
	cancel context.CancelFunc
	done   chan struct{} // closed when the flushing goroutine has ended
}

func newBatches(s settings, shared database, c *counters, report func(error)) batches {
	ctx, cancel := context.WithCancel(context.Background())
	return batches{
		database: shared, counters: c, size: s.batchSize, swap: s.stage == "bulk" && s.swap, report: report,
		ctx: ctx, cancel: cancel, done: make(chan struct{}),
	}
}

func (b *batches) write(hits []hit) {
	for len(hits) > 0 {
		batch := hits[:min(b.size, len(hits))]
		hits = hits[len(batch):]
		b.counters.oldest.Store(batch[0].received.UnixNano())
		err := b.database.insert(b.ctx, batch...)
		b.counters.finish(batch, err)
		if !b.swap {
			b.counters.queue.Add(-int64(len(batch)))
		}
		if err != nil {
			b.report(err)
		}
	}
	b.counters.oldest.Store(0)
}

// wait returns when everything is written, or has failed because ctx ended.
func (b *batches) wait(ctx context.Context) {
	defer context.AfterFunc(ctx, b.cancel)()
	<-b.done
	b.cancel()
}

// bulkStage collects hits in a slice and writes it at an interval. One mutex guards the slice and is held while it is
// written, as in the story that this stage retells: requests wait behind the flush, and the fastest and the slowest
// answer lie far apart.
type bulkStage struct {
	batches
	mutex sync.Mutex
	hits  []hit
	limit int
	stop  chan struct{}
}

func newBulkStage(s settings, b batches) *bulkStage {
	bulk := &bulkStage{batches: b, limit: s.queueSize, stop: make(chan struct{})}
	go bulk.run(s.flushInterval)
	return bulk
}

func (b *bulkStage) run(interval time.Duration) {
	defer close(b.done)
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			b.flush()
		case <-b.stop:
			b.flush()
			return
		}
	}
}

func (b *bulkStage) flush() {
	b.mutex.Lock()
	if b.swap {
		hits := b.hits
		b.hits = nil
		b.counters.queue.Add(-int64(len(hits)))
		b.mutex.Unlock()
		b.write(hits)
		return
	}
	defer b.mutex.Unlock()
	b.write(b.hits)
	clear(b.hits)
	b.hits = b.hits[:0]
}

func (b *bulkStage) put(_ context.Context, h hit) error {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if len(b.hits) >= b.limit {
		return errQueueFull
	}
	b.counters.accepted.Add(1)
	b.counters.queue.Add(1)
	if len(b.hits) == 0 {
		b.counters.oldest.Store(h.received.UnixNano())
	}
	b.hits = append(b.hits, h)
	return nil
}

func (b *bulkStage) close(ctx context.Context) {
	close(b.stop)
	b.wait(ctx)
}

// channelStage hands hits to one writer through a channel: requests never wait for the database, so a database that
// is too slow shows as lag and backlog only, until the channel is full.
type channelStage struct {
	batches
	hits  chan hit
	limit int64
}

func newChannelStage(s settings, b batches) *channelStage {
	channel := &channelStage{batches: b, hits: make(chan hit, s.queueSize), limit: int64(s.queueSize)}
	go channel.run(s.flushInterval)
	return channel
}

func (c *channelStage) put(_ context.Context, h hit) error {
	// The place in the queue is taken first: the send below then never blocks, and `accepted` never goes back.
	if c.counters.queue.Add(1) > c.limit {
		c.counters.queue.Add(-1)
		return errQueueFull
	}
	c.counters.accepted.Add(1)
	c.hits <- h
	return nil
}

func (c *channelStage) run(interval time.Duration) {
	defer close(c.done)
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	batch := make([]hit, 0, c.size)
	for {
		select {
		case h, open := <-c.hits:
			if !open {
				c.write(batch)
				return
			}
			if len(batch) == 0 {
				c.counters.oldest.Store(h.received.UnixNano())
			}
			if batch = append(batch, h); len(batch) < c.size {
				continue
			}
		case <-ticker.C:
		}
		c.write(batch)
		batch = batch[:0]
	}
}

func (c *channelStage) close(ctx context.Context) {
	close(c.hits)
	c.wait(ctx)
}
