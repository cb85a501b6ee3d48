// Command statement-load sends one statement many times as go-sql-driver does it: prepared for each call, or prepared
// once and kept.
package main

import (
	"database/sql"
	"flag"
	"log"
	"time"

	_ "github.com/go-sql-driver/mysql"
)

func main() {
	dsn := flag.String("dsn", "", "data source name of go-sql-driver/mysql")
	query := flag.String("query", "SELECT ?", "statement with one placeholder")
	calls := flag.Int("calls", 1, "how often it is executed")
	keep := flag.Bool("keep", false, "prepare once, instead of for each call")
	hold := flag.Duration("hold", 0, "how long the prepared statement stays after the last call")
	pause := flag.Duration("pause", 0, "between two calls")
	flag.Parse()
	if err := run(*dsn, *query, *calls, *keep, *hold, *pause); err != nil {
		log.Fatal(err)
	}
}

func run(dsn, query string, calls int, keep bool, hold, pause time.Duration) error {
	database, err := sql.Open("mysql", dsn)
	if err != nil {
		return err
	}
	defer database.Close()
	database.SetMaxOpenConns(1)
	ask := func(value int) (*sql.Rows, error) { return database.Query(query, value) }
	if keep {
		statement, err := database.Prepare(query)
		if err != nil {
			return err
		}
		defer statement.Close()
		ask = func(value int) (*sql.Rows, error) { return statement.Query(value) }
	}
	for value := range calls {
		rows, err := ask(value)
		if err != nil {
			return err
		}
		for rows.Next() {
		}
		if err := rows.Close(); err != nil {
			return err
		}
		time.Sleep(pause)
	}
	time.Sleep(hold)
	return nil
}
