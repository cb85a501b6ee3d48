// Command profile_maker writes pairs of real profiles: of one program under two loads, of every kind that
// /debug/pprof serves. Tests and a benchmark compare what Loadwatch and `go tool pprof` read in them.
//
//	go run bench/profile_maker/main.go -out DIR -pairs 20 -milliseconds 500 -seed 1
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math/rand"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"sort"
	"strings"
	"sync"
	"time"
)

var kinds = []string{"cpu", "heap", "allocs", "mutex", "block", "goroutine"}

// held keeps memory in use, so that a heap profile has something to show.
var (
	held   = map[string][][]byte{}
	locked sync.Mutex
	sink   uint64
)

type order struct {
	ID    int               `json:"id"`
	Name  string            `json:"name"`
	Items map[string]string `json:"items"`
}

func mix(x uint64) uint64 { // small enough to be inlined
	x ^= x >> 33
	return x * 0xff51afd7ed558ccd
}

func mixTwice(x uint64) uint64 { return mix(mix(x) + 1) }

func fibonacci(n int) uint64 { // calls itself: it counts once in a stack
	if n < 2 {
		return mixTwice(uint64(n))
	}
	return fibonacci(n-1) + fibonacci(n-2)
}

func even(n int) uint64 { // and two that call each other
	if n <= 0 {
		return fibonacci(18)
	}
	return odd(n - 1)
}

func odd(n int) uint64 {
	if n <= 0 {
		return fibonacci(17)
	}
	return even(n - 1)
}

type handler struct{ weight int }

func (h handler) encode() {
	one := order{ID: h.weight, Name: strings.Repeat("x", 40), Items: map[string]string{"a": "b", "c": "d"}}
	for range h.weight {
		data, err := json.Marshal(one)
		if err != nil {
			log.Fatal(err)
		}
		if err := json.Unmarshal(data, &one); err != nil {
			log.Fatal(err)
		}
	}
}

func (h handler) hash() {
	data := bytes.Repeat([]byte("loadwatch"), 400)
	for range h.weight {
		sum := sha256.Sum256(data)
		data[0] = sum[0]
	}
}

func (h handler) sort() {
	numbers := rand.New(rand.NewSource(int64(h.weight))).Perm(200 * h.weight)
	sort.Slice(numbers, func(a, b int) bool { return mix(uint64(numbers[a])) < mix(uint64(numbers[b])) })
}

func (h handler) recurse() { sink += even(h.weight) }

func (h handler) hold() {
	locked.Lock()
	defer locked.Unlock()
	key := fmt.Sprint(h.weight)
	held[key] = append(held[key], make([]byte, 4096*h.weight))
	if len(held[key]) > 50 {
		held[key] = held[key][25:]
	}
	time.Sleep(time.Duration(h.weight) * 20 * time.Microsecond)
}

func largest[T any](values []T, less func(a, b T) bool) T { // a generic function's name has brackets
	best := values[0]
	for _, one := range values {
		if less(best, one) {
			best = one
		}
	}
	return best
}

func (h handler) choose() {
	values := rand.New(rand.NewSource(1)).Perm(5_000)
	for range h.weight {
		sink += uint64(largest(values, func(a, b int) bool { return a < b }))
	}
}

// work runs for the time given; the weights say how much of each there is.
func work(weights []int, length time.Duration, random *rand.Rand) {
	end := time.Now().Add(length)
	var group sync.WaitGroup
	queue := make(chan int, 4)
	for worker := range 4 {
		group.Add(1)
		go func() {
			defer group.Done()
			for next := range queue {
				h := handler{weight: 1 + weights[next%len(weights)]}
				route := fmt.Sprintf("/route/%d", next%3)
				pprof.Do(context.Background(), pprof.Labels("route", route), func(context.Context) {
					[]func(){h.encode, h.hash, h.sort, h.recurse, h.hold, h.choose}[(next+worker)%6]()
				})
			}
		}()
	}
	for time.Now().Before(end) {
		queue <- random.Intn(1_000)
	}
	close(queue)
	group.Wait()
}

func write(path, kind string, weights []int, length time.Duration, random *rand.Rand) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	switch kind {
	case "cpu":
		if err := pprof.StartCPUProfile(file); err != nil {
			return err
		}
		work(weights, length, random)
		pprof.StopCPUProfile()
		return nil
	case "goroutine":
		stop := make(chan struct{})
		for number := range weights[0] + 3 {
			go func() {
				pprof.Do(context.Background(), pprof.Labels("route", fmt.Sprint(number%2)), func(context.Context) { <-stop })
			}()
		}
		defer close(stop)
		time.Sleep(10 * time.Millisecond)
	case "heap":
		work(weights, length, random)
		runtime.GC()
	default:
		work(weights, length, random)
	}
	return pprof.Lookup(kind).WriteTo(file, 0)
}

func main() {
	out := flag.String("out", ".", "folder that the profiles are written to")
	pairs := flag.Int("pairs", 6, "pairs, of the kinds in turn")
	milliseconds := flag.Int("milliseconds", 500, "load before each profile")
	seed := flag.Int64("seed", 1, "of the loads")
	flag.Parse()
	runtime.SetMutexProfileFraction(2)
	runtime.SetBlockProfileRate(10_000)
	runtime.MemProfileRate = 4_096
	random := rand.New(rand.NewSource(*seed))
	for pair := range *pairs {
		kind := kinds[pair%len(kinds)]
		for _, side := range []string{"base", "now"} {
			weights := make([]int, 8)
			for place := range weights {
				weights[place] = random.Intn(12)
			}
			path := filepath.Join(*out, fmt.Sprintf("%02d-%s-%s.pb.gz", pair, kind, side))
			if err := write(path, kind, weights, time.Duration(*milliseconds)*time.Millisecond, random); err != nil {
				log.Fatal(err)
			}
		}
	}
}
