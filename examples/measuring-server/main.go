// Command measuring-server takes hits over HTTP and writes them to MySQL, in one of five ways that each meet another
// limit. It is the example that Loadwatch's demo watches.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"
)

func main() {
	os.Exit(start(os.Args[1:], os.Stderr))
}

func start(arguments []string, output io.Writer) int {
	log.SetOutput(output)
	log.SetFlags(log.LstdFlags | log.Lmicroseconds | log.LUTC)
	s, err := parseSettings(arguments, output)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(output, "measuring-server:", err)
		return 2
	}
	stop, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer cancel()
	// A second signal ends the process at once, the hits in memory with it.
	context.AfterFunc(stop, cancel)
	if err := serve(stop, s); err != nil {
		log.Printf("measuring-server: %v", err)
		return 1
	}
	return 0
}

// serve runs until `stop` ends, then finishes the open requests and writes all that is in memory.
func serve(stop context.Context, s settings) error {
	troubles := newTroubles()
	if err := mysql.SetLogger(quietDriver{}); err != nil {
		return err
	}
	if err := prepareSchema(stop, s); err != nil {
		return err
	}
	if err := limitFiles(s.fdLimit); err != nil {
		return err
	}
	shared, err := openDatabase(s)
	if err != nil {
		return err
	}
	defer shared.pool.Close()
	c := &counters{}
	recordWaits()
	running, abandon := context.WithCancel(context.Background())
	defer abandon()
	a := &application{
		settings: s, database: shared, counters: c, troubles: troubles, build: readBuild(s.revision), running: running,
	}
	a.stage = newStage(s, shared, c, func(err error) { troubles.report("lost a batch", err) })
	listener, err := net.Listen("tcp", s.listen)
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w", s.listen, err)
	}
	server := &http.Server{
		Handler:           a.routes(),
		ErrorLog:          newErrorLog(),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       s.idleTimeout,
	}
	log.Printf("listening on %s, stage %s", listener.Addr(), s.stage)
	served := make(chan error, 1)
	go func() { served <- server.Serve(watchedListener{listener, c, troubles}) }()
	ticking, endTicking := context.WithCancel(context.Background())
	defer endTicking()
	go a.tick(ticking)
	select {
	case err = <-served:
		err = fmt.Errorf("the HTTP server ended: %w", err)
	case <-stop.Done():
		log.Print("stopping: no new connections, finishing open requests")
	}
	return errors.Join(err, a.finish(server, abandon))
}

// finish ends the server and the stage. `abandon` ends statements of requests that take too long. The error says that
// accepted hits are lost for want of time.
func (a *application) finish(server *http.Server, abandon func()) error {
	requests, cancel := context.WithTimeout(context.Background(), a.settings.stopTimeout)
	defer cancel()
	if err := server.Shutdown(requests); err != nil {
		log.Printf("some requests did not end within %s: closing their connections", a.settings.stopTimeout)
		_ = server.Close()
		abandon()
		for end := time.Now().Add(time.Second); a.counters.inFlight.Load() > 0 && time.Now().Before(end); {
			time.Sleep(10 * time.Millisecond)
		}
	}
	flush, cancelFlush := context.WithTimeout(context.Background(), a.settings.stopTimeout)
	defer cancelFlush()
	a.stage.close(flush)
	c := a.counters
	log.Printf("stopped: accepted=%d stored=%d failed=%d rejected=%d",
		c.accepted.Load(), c.stored.Load(), c.failed.Load(), c.rejected.Load())
	if flush.Err() != nil {
		return fmt.Errorf("the last flush did not end within %s: raise -stop-timeout", a.settings.stopTimeout)
	}
	return nil
}

// tick does what is due at intervals: errors that are over, and the pool's debug line.
func (a *application) tick(ctx context.Context) {
	settle := time.NewTicker(time.Second)
	defer settle.Stop()
	var logStats <-chan time.Time
	if a.settings.logStats > 0 {
		ticker := time.NewTicker(a.settings.logStats)
		defer ticker.Stop()
		logStats = ticker.C
	}
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-settle.C:
			a.troubles.settle(now)
		case <-logStats:
			log.Printf("dbStats %+v", a.database.pool.Stats())
		}
	}
}

// quietDriver drops the driver's own lines: each error comes back from the call as well, and is reported by change.
type quietDriver struct{}

func (quietDriver) Print(...any) {}
