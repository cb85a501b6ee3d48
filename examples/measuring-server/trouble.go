package main

import (
	"errors"
	"fmt"
	"log"
	"sync"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"
)

// quietAfter is how long a kind of error must stay away before it counts as over.
const quietAfter = 5 * time.Second

// troubles logs an error once when its kind begins and once when it has ended, with the count: a server that refuses
// a thousand requests a second must not write a thousand lines.
type troubles struct {
	mutex sync.Mutex
	kinds map[string]*trouble
}

type trouble struct {
	count int
	last  time.Time
}

func newTroubles() *troubles { return &troubles{kinds: map[string]*trouble{}} }

func (t *troubles) report(what string, err error) {
	kind := what + ": " + errorKind(err)
	t.mutex.Lock()
	defer t.mutex.Unlock()
	known := t.kinds[kind]
	if known == nil {
		known = &trouble{}
		t.kinds[kind] = known
		log.Printf("%s: %v", what, err)
	}
	known.count++
	known.last = time.Now()
}

// settle logs the kinds that have ended by `now`.
func (t *troubles) settle(now time.Time) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	for kind, known := range t.kinds {
		if now.Sub(known.last) >= quietAfter {
			log.Printf("%s: over after %d times", kind, known.count)
			delete(t.kinds, kind)
		}
	}
}

// errorKind leaves out what differs from one error to the next, such as the port of a connection.
func errorKind(err error) string {
	var database *mysql.MySQLError
	if errors.As(err, &database) {
		return fmt.Sprintf("MySQL error %d", database.Number)
	}
	var system syscall.Errno
	if errors.As(err, &system) {
		return system.Error()
	}
	return err.Error()
}
