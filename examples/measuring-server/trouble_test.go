package main

import (
	"bytes"
	"errors"
	"fmt"
	"log"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

func TestTroubleIsLoggedOncePerChange(t *testing.T) {
	var lines bytes.Buffer
	before := log.Writer()
	log.SetOutput(&lines)
	defer log.SetOutput(before)
	troubles := newTroubles()
	for port := range 500 {
		troubles.report("cannot store a hit", fmt.Errorf("read 127.0.0.1:%d: %w", 40000+port, syscall.ECONNRESET))
		troubles.report("cannot store a hit", &mysql.MySQLError{Number: 1040, Message: "Too many connections"})
	}
	if n := strings.Count(lines.String(), "\n"); n != 2 {
		t.Fatalf("%d lines:\n%s", n, lines.String())
	}
	troubles.settle(time.Now())
	if n := strings.Count(lines.String(), "\n"); n != 2 {
		t.Fatalf("settled too early:\n%s", lines.String())
	}
	troubles.settle(time.Now().Add(quietAfter))
	if n := strings.Count(lines.String(), "over after 500 times"); n != 2 {
		t.Fatalf("the end is not told:\n%s", lines.String())
	}
	troubles.report("cannot store a hit", errors.New("another"))
	if n := strings.Count(lines.String(), "\n"); n != 5 {
		t.Fatalf("%d lines:\n%s", n, lines.String())
	}
}
