package main

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
)

// misbehaviour is what an application does wrong or at a cost, so that a limit is met that storing hits alone does not
// meet.
type misbehaviour struct {
	cpuPerHit        time.Duration
	databaseWork     int
	dropShare        float64
	swap             bool
	cancelWithClient bool
	idleTimeout      time.Duration
}

func (m *misbehaviour) register(flags *flag.FlagSet) {
	flags.DurationVar(&m.cpuPerHit, "cpu-per-hit", 0, "makes each hit cost this much CPU time of the server")
	flags.IntVar(&m.databaseWork, "db-work", 0, "makes the database compute this many hashes with each statement, on its CPU")
	flags.Float64Var(&m.dropShare, "drop-share", 0, "share of hits, 0 to 1, that are accepted, never stored and counted nowhere else")
	flags.BoolVar(&m.swap, "swap", false, "take the whole buffer away and write it without the mutex; the queue's length leaves out what is being written (stage bulk)")
	flags.BoolVar(&m.cancelWithClient, "cancel-with-client", false, "end the statement of a client that has given up, and its connection with it (stages naive, default, bounded)")
	// Longer than the 60 s of a load balancer, so that the balancer and not this server closes an idle connection.
	flags.DurationVar(&m.idleTimeout, "idle-timeout", 75*time.Second, "how long a client's idle connection is kept")
}

func (m *misbehaviour) check() error {
	switch {
	case m.cpuPerHit < 0 || m.cpuPerHit > 10*time.Second:
		return fmt.Errorf("-cpu-per-hit %s is not between 0 and 10s", m.cpuPerHit)
	case m.databaseWork < 0 || m.databaseWork > 1e9:
		return fmt.Errorf("-db-work %d is not between 0 and 1000000000", m.databaseWork)
	case !(m.dropShare >= 0 && m.dropShare <= 1):
		return fmt.Errorf("-drop-share %v is not between 0 and 1", m.dropShare)
	case m.idleTimeout <= 0:
		return fmt.Errorf("-idle-timeout %s is not above 0", m.idleTimeout)
	}
	return nil
}

// burn uses CPU time of this thread: time spent waiting for a CPU does not count, as in real work.
func burn(cost time.Duration) {
	if cost <= 0 {
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for end := threadTime() + cost; threadTime() < end; {
	}
}

func threadTime() time.Duration {
	const thread = 1 // RUSAGE_THREAD
	var used syscall.Rusage
	if err := syscall.Getrusage(thread, &used); err != nil {
		panic(err) // Only a wrong argument makes it fail.
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// dropper says which hits are lost: evenly spread, so that a share is a share also of few.
type dropper struct{ seen atomic.Int64 }

func (d *dropper) drops(share float64) bool {
	n := d.seen.Add(1)
	return int64(float64(n)*share) > int64(float64(n-1)*share)
}

// contextOf is what a hit is stored under: usually not the request's own, since a client that has given up must not
// make an accepted hit disappear.
func (a *application) contextOf(request context.Context) context.Context {
	if a.settings.cancelWithClient {
		return request
	}
	return a.running
}
