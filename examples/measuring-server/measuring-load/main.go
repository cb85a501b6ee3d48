// Command measuring-load sends GET requests at a bounded rate for a bounded time, and writes down each one.
//
// Its clients begin at the same instant and keep the same beat, as hey's do: a burst of -clients requests, -rate times a
// second. A client that still waits for an answer skips its beat. Each request becomes a line when it ends, answered or
// not, in the columns of vegeta's CSV (`vegeta encode -to csv`), which Loadwatch follows while it grows.
package main

import (
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// Settings is the load: who asks, how often, for how long, and where.
type Settings struct {
	URLs      []string // the first client asks the first, the next the next, and so on around
	Clients   int
	Rate      float64 // requests a second of each client
	Duration  time.Duration
	Timeout   time.Duration // a request without a whole answer by then has failed
	KeepAlive bool
}

// Record is one request that came to an end.
type Record struct {
	Start   time.Time
	Latency time.Duration
	Status  int // 0 without an answer
	BytesIn int64
	Error   string
	URL     string
}

const (
	mostClients  = 10_000
	mostRate     = 1_000
	mostDuration = 24 * time.Hour
	flushEvery   = 100 * time.Millisecond
)

func (s Settings) check() error {
	switch {
	case s.Clients < 1 || s.Clients > mostClients:
		return fmt.Errorf("-clients must be from 1 to %d, not %d", mostClients, s.Clients)
	case !(s.Rate > 0 && s.Rate <= mostRate):
		return fmt.Errorf("-rate must be above 0 and at most %d requests a second for each client, not %v", mostRate, s.Rate)
	case s.Duration <= 0 || s.Duration > mostDuration:
		return fmt.Errorf("-duration must be above 0 and at most %s, not %s", mostDuration, s.Duration)
	case s.Timeout <= 0:
		return fmt.Errorf("-timeout must be above 0, not %s", s.Timeout)
	}
	return nil
}

// Send sends the load until its time is over or ctx ends, waits for the answers under way, and hands every request to
// record, one at a time. It returns what record returned when that failed, which also ends the load.
func Send(ctx context.Context, settings Settings, record func(Record) error) error {
	ctx, stop := context.WithTimeout(ctx, settings.Duration)
	defer stop()
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil
	transport.MaxIdleConns = settings.Clients
	transport.MaxIdleConnsPerHost = settings.Clients
	transport.DisableCompression = true
	transport.DisableKeepAlives = !settings.KeepAlive
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: settings.Timeout}
	records := make(chan Record, settings.Clients)
	var clients sync.WaitGroup
	for number := range settings.Clients {
		url := settings.URLs[number%len(settings.URLs)]
		clients.Add(1)
		go func() {
			defer clients.Done()
			keepAsking(ctx, client, settings, url, records)
		}()
	}
	go func() {
		clients.Wait()
		close(records)
	}()
	var failed error
	for one := range records {
		if failed == nil {
			if failed = record(one); failed != nil {
				stop()
			}
		}
	}
	return failed
}

func keepAsking(ctx context.Context, client *http.Client, settings Settings, url string, records chan<- Record) {
	beat := time.NewTicker(time.Duration(float64(time.Second) / settings.Rate))
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
			if ctx.Err() != nil {
				return
			}
			records <- ask(client, url)
		}
	}
}

// ask sends one request. It is not cut off by the end of the load: its answer belongs to it.
func ask(client *http.Client, url string) Record {
	one := Record{Start: time.Now(), URL: url}
	answer, err := client.Get(url)
	if err == nil {
		one.Status = answer.StatusCode
		one.BytesIn, err = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	}
	one.Latency = time.Since(one.Start)
	if err != nil {
		// An answer that broke off is none.
		one.Status, one.Error = 0, err.Error()
	}
	return one
}

// Writer writes records as vegeta's CSV, and flushes so often that a reader sees each soon.
type Writer struct {
	rows    *csv.Writer
	written uint64
	flushed time.Time
}

// NewWriter writes to file.
func NewWriter(file io.Writer) *Writer {
	return &Writer{rows: csv.NewWriter(file)}
}

// Write adds one record.
func (w *Writer) Write(one Record) error {
	err := w.rows.Write([]string{
		strconv.FormatInt(one.Start.UnixNano(), 10), strconv.Itoa(one.Status), strconv.FormatInt(one.Latency.Nanoseconds(), 10),
		"0", strconv.FormatInt(one.BytesIn, 10), one.Error, "", "", strconv.FormatUint(w.written, 10), http.MethodGet, one.URL, "",
	})
	w.written++
	if err == nil && time.Since(w.flushed) > flushEvery {
		w.flushed = time.Now()
		err = w.Flush()
	}
	return err
}

// Flush hands everything to the file.
func (w *Writer) Flush() error {
	w.rows.Flush()
	return w.rows.Error()
}

func run(arguments []string, output io.Writer) error {
	settings := Settings{}
	flags := flag.NewFlagSet("measuring-load", flag.ContinueOnError)
	flags.IntVar(&settings.Clients, "clients", 10, "clients, each with a connection of its own")
	flags.Float64Var(&settings.Rate, "rate", 5, "requests a second of each client")
	flags.DurationVar(&settings.Duration, "duration", 10*time.Second, "how long requests are sent")
	flags.DurationVar(&settings.Timeout, "timeout", 3*time.Second, "a request without an answer by then has failed")
	flags.BoolVar(&settings.KeepAlive, "keep-alive", true, "use connections again")
	path := flags.String("output", "", "file for the records; standard output without it")
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "Usage: measuring-load [options] URL...")
		flags.PrintDefaults()
	}
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if flags.NArg() < 1 {
		return errors.New("a URL is needed: measuring-load [options] URL...")
	}
	settings.URLs = flags.Args()
	if err := settings.check(); err != nil {
		return err
	}
	if *path != "" {
		file, err := os.Create(*path)
		if err != nil {
			return err
		}
		defer file.Close()
		output = file
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	writer := NewWriter(output)
	if err := Send(ctx, settings, writer.Write); err != nil {
		return err
	}
	return writer.Flush()
}

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "measuring-load:", err)
		os.Exit(2)
	}
}
