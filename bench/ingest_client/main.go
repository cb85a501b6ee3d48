// Command ingest_client sends pre-encoded remote-write bodies as fast as a server acknowledges them.
//
// Usage: ingest_client -url URL -seconds N FILE...
// Each file holds the bodies of one connection, each after its length as 4 bytes, little endian. A connection keeps
// alive and sends its bodies in order, one at a time. The result is one line of JSON on standard output.
package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"sort"
	"sync"
	"syscall"
	"time"
)

type result struct {
	Requests  int     `json:"requests"`
	Seconds   float64 `json:"seconds"`
	P50       float64 `json:"p50_ms"`
	P99       float64 `json:"p99_ms"`
	ClientCPU float64 `json:"client_cpu_seconds"`
	Failed    int     `json:"failed"`
	Failure   string  `json:"failure"`
}

type sender struct {
	bodies [][]byte
	took   []time.Duration
	failed int
	reason string
}

func main() {
	url := flag.String("url", "", "where to send")
	seconds := flag.Float64("seconds", 10, "stop sending after this time")
	skip := flag.Int("skip", 0, "bodies to send before the clock starts")
	flag.Parse()
	senders := make([]*sender, flag.NArg())
	for i, name := range flag.Args() {
		bodies, err := read(name)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		senders[i] = &sender{bodies: bodies}
	}
	all(senders, func(s *sender) { s.send(*url, s.bodies[:*skip], time.Now().Add(time.Minute)) })
	for _, s := range senders {
		s.took = nil
	}
	started, before := time.Now(), cpu()
	until := started.Add(time.Duration(*seconds * float64(time.Second)))
	all(senders, func(s *sender) { s.send(*url, s.bodies[*skip:], until) })
	report(senders, time.Since(started).Seconds(), cpu()-before)
}

func all(senders []*sender, work func(*sender)) {
	var group sync.WaitGroup
	for _, s := range senders {
		group.Add(1)
		go func() {
			defer group.Done()
			work(s)
		}()
	}
	group.Wait()
}

func (s *sender) send(url string, bodies [][]byte, until time.Time) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1, DisableCompression: true}}
	defer client.CloseIdleConnections()
	for _, body := range bodies {
		started := time.Now()
		if started.After(until) {
			return
		}
		request, _ := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
		request.Header.Set("Content-Type", "application/x-protobuf")
		request.Header.Set("Content-Encoding", "snappy")
		request.Header.Set("X-Prometheus-Remote-Write-Version", "0.1.0")
		answer, err := client.Do(request)
		if err != nil {
			s.failed++
			s.reason = err.Error()
			continue
		}
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode/100 != 2 {
			s.failed++
			s.reason = fmt.Sprintf("%d %.200s", answer.StatusCode, text)
			continue
		}
		s.took = append(s.took, time.Since(started))
	}
}

func read(name string) ([][]byte, error) {
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var bodies [][]byte
	for len(content) >= 4 {
		size := int(binary.LittleEndian.Uint32(content))
		if size > len(content)-4 {
			return nil, fmt.Errorf("%s is cut off", name)
		}
		bodies = append(bodies, content[4:4+size])
		content = content[4+size:]
	}
	return bodies, nil
}

func cpu() float64 {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

func report(senders []*sender, seconds, used float64) {
	var took []time.Duration
	total := result{Seconds: seconds, ClientCPU: used}
	for _, s := range senders {
		took = append(took, s.took...)
		total.Failed += s.failed
		if s.reason != "" {
			total.Failure = s.reason
		}
	}
	total.Requests = len(took)
	sort.Slice(took, func(i, j int) bool { return took[i] < took[j] })
	if len(took) > 0 {
		total.P50 = took[len(took)/2].Seconds() * 1000
		total.P99 = took[len(took)*99/100].Seconds() * 1000
	}
	_ = json.NewEncoder(os.Stdout).Encode(total)
}
