package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// process is the server as a process of its own.
type process struct {
	command *exec.Cmd
	url     string
	mutex   sync.Mutex
	lines   []string
	ended   chan struct{}
}

func startProcess(t *testing.T, dsn string, arguments ...string) *process {
	t.Helper()
	p := &process{ended: make(chan struct{})}
	p.command = exec.Command(os.Args[0], append([]string{"-listen", "127.0.0.1:0"}, arguments...)...)
	p.command.Env = append(os.Environ(), asServer+"=1", "MEASURING_SERVER_DSN="+dsn)
	p.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	output, err := p.command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		for scanner := bufio.NewScanner(output); scanner.Scan(); {
			p.mutex.Lock()
			p.lines = append(p.lines, scanner.Text())
			p.mutex.Unlock()
		}
	}()
	t.Cleanup(func() { _ = p.command.Process.Kill() })
	waitFor(t, "the server to listen", func() bool {
		_, rest, found := strings.Cut(p.log(), "listening on ")
		address, _, _ := strings.Cut(rest, ",")
		p.url = "http://" + address
		return found
	})
	return p
}

func (p *process) log() string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return strings.Join(p.lines, "\n")
}

func (p *process) stop(t *testing.T, signal syscall.Signal) {
	t.Helper()
	if err := p.command.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	<-p.ended
	if err := p.command.Wait(); err != nil {
		t.Fatalf("%v:\n%s", err, p.log())
	}
}

func TestShutdownStoresWhatIsInMemory(t *testing.T) {
	for stage, signal := range map[string]syscall.Signal{"bulk": syscall.SIGTERM, "channel": syscall.SIGINT} {
		t.Run(stage, func(t *testing.T) {
			dsn, rows := newSchema(t)
			p := startProcess(t, dsn, "-stage", stage, "-flush-interval", "1h", "-batch-size", "50")
			sendHits(t, p.url, 4, 130)
			p.stop(t, signal)
			if !strings.Contains(p.log(), "stopped: accepted=130 stored=130 failed=0 rejected=0") || rows() != 130 {
				t.Fatalf("%d rows:\n%s", rows(), p.log())
			}
		})
	}
}

func TestShutdownFinishesOpenRequests(t *testing.T) {
	dsn, rows := newSchema(t)
	p := startProcess(t, dsn, "-stage", "bounded", "-max-open", "2", "-db-delay", "100ms")
	answers := make(chan map[int]int)
	go func() {
		statuses, _ := sendHits(t, p.url, 8, 8)
		answers <- statuses
	}()
	waitFor(t, "all requests to be accepted", func() bool { return strings.Contains(p.document(t), `"accepted":8`) })
	p.stop(t, syscall.SIGTERM)
	if statuses := <-answers; statuses[http.StatusOK] != 8 || rows() != 8 {
		t.Fatalf("answers %v, %d rows:\n%s", statuses, rows(), p.log())
	}
}

func (p *process) document(t *testing.T) string {
	t.Helper()
	var document json.RawMessage
	if err := json.NewDecoder(get(t, p.url+"/debug/dbstats").Body).Decode(&document); err != nil {
		t.Fatal(err)
	}
	return string(document)
}

func TestLimitOfOpenFilesBites(t *testing.T) {
	dsn, _ := newSchema(t)
	p := startProcess(t, dsn, "-stage", "channel", "-fd-limit", "40")
	limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", p.command.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	if _, row, _ := strings.Cut(string(limits), "Max open files"); strings.Fields(row)[0] != "40" {
		t.Fatalf("the limit in force is %s", row)
	}
	// One connection for the debug page, opened while there are files left and then kept, as a poller must.
	poller := &http.Client{Timeout: 30 * time.Second}
	acceptErrors := func() int64 {
		response, err := poller.Get(p.url + "/debug/dbstats")
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		var document statsDocument
		if err := json.NewDecoder(response.Body).Decode(&document); err != nil {
			t.Fatal(err)
		}
		return document.HTTP.AcceptErrors
	}
	acceptErrors()
	for range 60 {
		connection, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer connection.Close()
	}
	waitFor(t, "accept to fail several times", func() bool { return acceptErrors() >= 5 })
	if n := strings.Count(p.log(), "too many open files"); n != 1 {
		t.Fatalf("%d lines about it:\n%s", n, p.log())
	}
}

func TestPoolStatisticsAreLogged(t *testing.T) {
	dsn, _ := newSchema(t)
	p := startProcess(t, dsn, "-stage", "default", "-log-stats", "20ms")
	waitFor(t, "the debug line", func() bool {
		return strings.Contains(p.log(), "dbStats {MaxOpenConnections:0 OpenConnections:0 InUse:0 Idle:0 WaitCount:0 WaitDuration:0s MaxIdleClosed:0")
	})
	p.stop(t, syscall.SIGTERM)
}

func TestUnreachableDatabaseIsAClearError(t *testing.T) {
	address, err := freeAddress()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(os.Args[0], "-dsn", "u:secret@tcp("+address+")/s", "-start-timeout", "10ms")
	command.Env = append(os.Environ(), asServer+"=1")
	output, err := command.CombinedOutput()
	if err == nil || !strings.Contains(string(output), "cannot create the table hits in s at "+address) {
		t.Fatalf("%v: %s", err, output)
	}
	if strings.Contains(string(output), "secret") {
		t.Fatalf("the error shows the password: %s", output)
	}
}
