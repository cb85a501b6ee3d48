package main

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// asServer makes the test binary be the server itself: tests of signals and limits need a process of their own.
const asServer = "MEASURING_SERVER_TEST_AS_SERVER"

// testMaxConnections is small, so that a test reaches it.
const testMaxConnections = 25

var (
	testAddress string
	schemas     atomic.Int64
)

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		main()
		return
	}
	log.SetOutput(os.Stderr)
	stop, err := startMariaDB()
	if err != nil {
		fmt.Fprintln(os.Stderr, "these tests need a real MariaDB (package mariadb-server):", err)
		os.Exit(1)
	}
	code := m.Run()
	stop()
	os.Exit(code)
}

// startMariaDB runs a database with its own data directory on a free port.
func startMariaDB() (stop func(), err error) {
	folder, err := os.MkdirTemp("", "measuring-server-test-")
	if err != nil {
		return nil, err
	}
	data, socket := filepath.Join(folder, "data"), filepath.Join(folder, "socket")
	asRoot := []string{}
	if os.Getuid() == 0 {
		asRoot = []string{"--user=root"}
	}
	install := exec.Command("mariadb-install-db", append([]string{
		"--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db", "--datadir=" + data,
		// Each server that starts removes all temporary tables from its temporary folder, also those of others.
		"--tmpdir=" + folder,
		// The host's slots for asynchronous I/O may be used up.
		"--innodb-use-native-aio=0",
	}, asRoot...)...)
	if output, err := install.CombinedOutput(); err != nil {
		os.RemoveAll(folder)
		return nil, fmt.Errorf("mariadb-install-db: %w: %s", err, output)
	}
	path, err := exec.LookPath("mariadbd")
	if err != nil {
		path = "/usr/sbin/mariadbd"
	}
	testAddress, err = freeAddress()
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(testAddress)
	server := exec.Command(path, append([]string{
		"--no-defaults", "--datadir=" + data, "--tmpdir=" + folder, "--socket=" + socket, "--bind-address=127.0.0.1", "--port=" + port,
		"--skip-name-resolve", "--innodb-buffer-pool-size=32M", "--innodb-use-native-aio=0", "--innodb-flush-log-at-trx-commit=0",
		fmt.Sprintf("--max-connections=%d", testMaxConnections), "--log-error=" + filepath.Join(folder, "log"),
	}, asRoot...)...)
	// A test run that is killed takes its database with it.
	server.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := server.Start(); err != nil {
		os.RemoveAll(folder)
		return nil, err
	}
	stop = func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		_ = server.Wait()
		os.RemoveAll(folder)
	}
	pool := openRoot("")
	defer pool.Close()
	for end := time.Now().Add(120 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		// The default account of a fresh MariaDB is root@localhost, which a TCP connection is with name resolving off
		// only as 127.0.0.1: the installer makes that account too.
		err := pool.Ping()
		if err == nil {
			return stop, nil
		}
		if time.Now().After(end) {
			stop()
			return nil, err
		}
	}
}

func openRoot(schema string) *sql.DB {
	pool, err := sql.Open("mysql", "root@tcp("+testAddress+")/"+schema)
	if err != nil {
		panic(err)
	}
	return pool
}

// freeAddress is one below the range that the kernel gives out, or another process could be given it before it is used.
func freeAddress() (string, error) {
	var listener net.Listener
	var err error
	for range 100 {
		listener, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 15_000+rand.IntN(17_000)))
		if err == nil {
			defer listener.Close()
			return listener.Addr().String(), nil
		}
	}
	return "", err
}

// newSchema gives a test an empty schema: its DSN, and a function that counts the rows of `hits`.
func newSchema(t *testing.T) (dsn string, rows func() int64) {
	t.Helper()
	pool := openRoot("")
	pool.SetMaxOpenConns(1)
	t.Cleanup(func() { pool.Close() })
	name := fmt.Sprintf("test_%d", schemas.Add(1))
	if _, err := pool.Exec("CREATE DATABASE " + name); err != nil {
		t.Fatal(err)
	}
	return "root@tcp(" + testAddress + ")/" + name, func() int64 {
		t.Helper()
		var n int64
		if err := pool.QueryRow("SELECT COUNT(*) FROM " + name + ".hits").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
}

func testSettings(t *testing.T, dsn string, arguments ...string) settings {
	t.Helper()
	s, err := parseSettings(append([]string{"-dsn", dsn}, arguments...), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// newApplication is a server without its listener, over a real database.
func newApplication(t *testing.T, s settings) *application {
	t.Helper()
	ctx := context.Background()
	if err := prepareSchema(ctx, s); err != nil {
		t.Fatal(err)
	}
	d, err := openDatabase(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.pool.Close() })
	c := &counters{}
	a := &application{settings: s, database: d, counters: c, troubles: newTroubles(), build: readBuild(s.revision), running: ctx}
	a.stage = newStage(s, d, c, func(err error) { a.troubles.report("lost a batch", err) })
	return a
}

func waitFor(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(120 * time.Second); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited 120 s for %s", strings.TrimSpace(what))
		}
	}
}
