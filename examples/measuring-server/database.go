package main

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

const (
	// TIMESTAMP, unlike DATETIME, reads right from a session in any time zone. hits_stored_at serves the question
	// "how old is the newest row", hits_name the probe that looks for its own marked row.
	createTable = `CREATE TABLE IF NOT EXISTS hits (
		id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
		name VARCHAR(191) NOT NULL,
		value VARCHAR(255) NOT NULL,
		received_at TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
		stored_at TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
		KEY hits_stored_at (stored_at),
		KEY hits_name (name)
	) DEFAULT CHARACTER SET utf8mb4`
	insertHits = "INSERT INTO hits (name, value, received_at) VALUES "
	oneRow     = "(?, ?, ?)"
	slowDown   = "DO SLEEP(?), BENCHMARK(?, SHA2('hit', 512))"
)

// hit is one accepted request.
type hit struct {
	name     string
	value    string
	received time.Time
}

// defaultMaxIdle is what database/sql keeps idle when nobody says otherwise.
const defaultMaxIdle = 2

// poolSettings is what sql.DBStats does not tell of a pool, in its manner: times are nanoseconds in JSON, and 0 is for
// ever.
type poolSettings struct {
	MaxIdleConnections int
	ConnMaxLifetime    time.Duration
	ConnMaxIdleTime    time.Duration
}

// database is a pool, how it was set, and the delay and the work that each of its statements gets.
type database struct {
	pool  *sql.DB
	set   poolSettings
	delay time.Duration
	work  int // hashes that the database computes
}

// openDatabase makes a pool; nothing is dialled before the first statement.
func openDatabase(s settings) (database, error) {
	connector, err := mysql.NewConnector(s.database)
	if err != nil {
		return database{}, fmt.Errorf("-dsn: %w", err)
	}
	d := database{
		pool: sql.OpenDB(connector), set: poolSettings{MaxIdleConnections: defaultMaxIdle}, delay: s.databaseDelay,
		work: s.databaseWork,
	}
	if s.stage != "naive" && s.stage != "default" {
		d.limit(s)
	}
	return d, nil
}

// limit sets the pool as the flags say.
func (d *database) limit(s settings) {
	d.set = poolSettings{
		MaxIdleConnections: s.maxIdle, ConnMaxLifetime: s.connMaxLifetime, ConnMaxIdleTime: s.connMaxIdleTime,
	}
	if s.maxOpen > 0 {
		// What database/sql makes of it: no more can be idle than can be open.
		d.set.MaxIdleConnections = min(s.maxIdle, s.maxOpen)
	}
	d.pool.SetMaxOpenConns(s.maxOpen)
	d.pool.SetMaxIdleConns(d.set.MaxIdleConnections)
	d.pool.SetConnMaxLifetime(d.set.ConnMaxLifetime)
	d.pool.SetConnMaxIdleTime(d.set.ConnMaxIdleTime)
}

// insert stores the hits with one statement, all or none of them. A delay holds the connection, as a slow statement does.
func (d database) insert(ctx context.Context, hits ...hit) error {
	arguments := make([]any, 0, 3*len(hits))
	for _, h := range hits {
		arguments = append(arguments, h.name, h.value, h.received)
	}
	statement := insertHits + oneRow + strings.Repeat(", "+oneRow, len(hits)-1)
	if d.delay <= 0 && d.work <= 0 {
		_, err := d.pool.ExecContext(ctx, statement, arguments...)
		return err
	}
	connection, err := d.pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer connection.Close()
	if _, err := connection.ExecContext(ctx, slowDown, d.delay.Seconds(), d.work); err != nil {
		return err
	}
	_, err = connection.ExecContext(ctx, statement, arguments...)
	return err
}

// prepareSchema waits for the database and creates the table, over a pool of its own: in stage naive the served
// pool then shows what such an app shows, nothing but zeros.
func prepareSchema(ctx context.Context, s settings) error {
	d, err := openDatabase(s)
	if err != nil {
		return err
	}
	defer d.pool.Close()
	ctx, cancel := context.WithTimeout(ctx, s.startTimeout)
	defer cancel()
	var last error
	for attempt := 0; ; attempt++ {
		_, err := d.pool.ExecContext(ctx, createTable)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil || last == nil {
			last = err
		}
		if attempt == 0 {
			log.Printf("waiting up to %s for the database at %s: %v", s.startTimeout, s.database.Addr, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("cannot create the table hits in %s at %s: %w", s.database.DBName, s.database.Addr, last)
		case <-time.After(500 * time.Millisecond):
		}
	}
}
