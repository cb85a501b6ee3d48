package main

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net"
	"syscall"
)

// watchedListener counts the errors of accept and reports them by change: at the limit of open files net/http tries
// again for ever and writes a line each time.
type watchedListener struct {
	net.Listener
	counters *counters
	troubles *troubles
}

func (l watchedListener) Accept() (net.Conn, error) {
	connection, err := l.Listener.Accept()
	if temporary, ok := err.(interface{ Temporary() bool }); ok && temporary.Temporary() {
		l.counters.acceptErrors.Add(1)
		l.troubles.report("accept", err)
	}
	return connection, err
}

// withoutAcceptErrors passes net/http's own log lines on, but for those that watchedListener reports.
type withoutAcceptErrors struct{ output io.Writer }

func (w withoutAcceptErrors) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("Accept error")) {
		return len(line), nil
	}
	return w.output.Write(line)
}

func newErrorLog() *log.Logger {
	return log.New(withoutAcceptErrors{log.Writer()}, "", log.Flags()|log.Lmsgprefix)
}

// limitFiles sets this process's own soft limit of open files; 0 leaves it alone.
func limitFiles(limit uint64) error {
	if limit == 0 {
		return nil
	}
	var now syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &now); err != nil {
		return fmt.Errorf("cannot read the limit of open files: %w", err)
	}
	if limit > now.Max {
		return fmt.Errorf("-fd-limit %d is above this process's hard limit of %d: raise LimitNOFILE of its unit", limit, now.Max)
	}
	now.Cur = limit
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &now); err != nil {
		return fmt.Errorf("cannot set the limit of open files to %d: %w", limit, err)
	}
	return nil
}
