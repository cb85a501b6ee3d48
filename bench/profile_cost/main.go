// Command profile_cost does the same work again and again, alone and while it takes a profile of itself as net/http/pprof
// does, as it is told on standard input, and writes the CPU time of each turn. CPU time and not wall time: what else runs
// on the machine must not count.
package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/pprof"
	"sort"
	"sync"
	"syscall"
)

// As the guide says.
const (
	mutexFraction = 100
	blockRate     = 1_000_000
	workers       = 4
)

var sink byte

// work computes, allocates, calls in depth and takes a lock that others want: what a handler does, without its waiting.
func work(rounds int) {
	var lock sync.Mutex
	var group sync.WaitGroup
	for worker := 0; worker < workers; worker++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for round := 0; round < rounds/workers; round++ {
				keys := make([]int, 512)
				for at := range keys {
					keys[at] = (at * 7919) % 1021
				}
				sort.Ints(keys)
				text, _ := json.Marshal(keys)
				sum := sha256.Sum256(text)
				lock.Lock()
				sink ^= sum[0]
				lock.Unlock()
			}
		}()
	}
	group.Wait()
}

func cpuSeconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

// turn is the CPU time of the work, the writing of the profile included.
func turn(kind string, rounds int) float64 {
	// What the turn before has left is not to be cleared away by this one.
	runtime.GC()
	from := cpuSeconds()
	if kind == "cpu" {
		if err := pprof.StartCPUProfile(io.Discard); err != nil {
			panic(err)
		}
	}
	work(rounds)
	switch kind {
	case "none":
	case "cpu":
		pprof.StopCPUProfile()
	default:
		if err := pprof.Lookup(kind).WriteTo(io.Discard, 0); err != nil {
			panic(err)
		}
	}
	return cpuSeconds() - from
}

func recordWaits(on bool) {
	if on {
		runtime.SetMutexProfileFraction(mutexFraction)
		runtime.SetBlockProfileRate(blockRate)
		return
	}
	runtime.SetMutexProfileFraction(0)
	runtime.SetBlockProfileRate(0)
}

// Each line of standard input is a turn: whether waits are recorded, the kind of profile or none, and how much work.
func main() {
	for {
		var waits bool
		var kind string
		var rounds int
		if _, err := fmt.Scanln(&waits, &kind, &rounds); err != nil {
			return
		}
		recordWaits(waits)
		fmt.Println(turn(kind, rounds))
	}
}
