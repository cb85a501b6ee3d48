// Command profile_cost does the same work again and again, alone and while it takes a profile of itself as net/http/pprof
// does, and writes the CPU time of each turn. CPU time and not wall time: what else runs on the machine must not count.
package main

import (
	"crypto/sha256"
	"encoding/json"
	"flag"
	"io"
	"os"
	"runtime"
	"runtime/pprof"
	"sort"
	"sync"
	"syscall"
)

var sink byte

// work computes, allocates, calls in depth and takes a lock that others want: what a handler does, without its waiting.
func work(rounds int) {
	var lock sync.Mutex
	var group sync.WaitGroup
	for worker := 0; worker < runtime.GOMAXPROCS(0); worker++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for round := 0; round < rounds; round++ {
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
	from := cpuSeconds()
	if kind == "cpu" {
		if err := pprof.StartCPUProfile(io.Discard); err != nil {
			panic(err)
		}
	}
	work(rounds)
	switch kind {
	case "":
	case "cpu":
		pprof.StopCPUProfile()
	default:
		if err := pprof.Lookup(kind).WriteTo(io.Discard, 0); err != nil {
			panic(err)
		}
	}
	return cpuSeconds() - from
}

func main() {
	rounds := flag.Int("rounds", 20_000, "work of a turn")
	turns := flag.Int("turns", 20, "turns of each kind, and as many alone")
	waits := flag.Bool("waits", false, "record waits all the time, as the guide says")
	flag.Parse()
	if *waits {
		runtime.SetMutexProfileFraction(100)
		runtime.SetBlockProfileRate(1_000_000)
	}
	work(*rounds)
	found := map[string][]float64{}
	for at := 0; at < *turns; at++ {
		for _, kind := range []string{"", "cpu", "mutex", "block", "heap", "goroutine", "allocs"} {
			found[kind] = append(found[kind], turn(kind, *rounds))
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(found); err != nil {
		panic(err)
	}
}
