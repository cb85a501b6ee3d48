package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// maxBatchSize keeps the longest possible statement (191 + 255 characters of four bytes a row) below
// max_allowed_packet, 16 MiB by default on MariaDB.
const maxBatchSize = 5000

const longestRevision = 100

var stageNames = []string{"naive", "default", "bounded", "bulk", "channel"}

// settings holds every flag of the server, checked.
type settings struct {
	listen          string
	database        *mysql.Config
	stage           string
	maxOpen         int
	maxIdle         int
	connMaxLifetime time.Duration
	connMaxIdleTime time.Duration
	flushInterval   time.Duration
	batchSize       int
	databaseDelay   time.Duration
	fdLimit         uint64
	keepAlive       bool
	queueSize       int
	logStats        time.Duration
	startTimeout    time.Duration
	stopTimeout     time.Duration
	revision        string
	misbehaviour
}

// parseSettings reads the command line. Its errors name the flag, the value and what is allowed.
func parseSettings(arguments []string, output io.Writer) (settings, error) {
	var s settings
	var dsn, dsnFile string
	flags := flag.NewFlagSet("measuring-server", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the caller prints the error, once
	flags.StringVar(&s.listen, "listen", "127.0.0.1:8080", "address to serve on")
	flags.StringVar(&dsn, "dsn", "", "database, as user:password@tcp(host:port)/schema; default: the environment variable MEASURING_SERVER_DSN")
	flags.StringVar(&dsnFile, "dsn-file", "", "file that holds the database's DSN, instead of -dsn")
	flags.StringVar(&s.stage, "stage", "bounded", "how hits are stored: "+strings.Join(stageNames, ", "))
	flags.IntVar(&s.maxOpen, "max-open", 30, "SetMaxOpenConns, 0 = unlimited (stages bounded, bulk, channel)")
	flags.IntVar(&s.maxIdle, "max-idle", 30, "SetMaxIdleConns (stages bounded, bulk, channel)")
	flags.DurationVar(&s.connMaxLifetime, "conn-max-lifetime", 0, "SetConnMaxLifetime, 0 = for ever (stages bounded, bulk, channel)")
	flags.DurationVar(&s.connMaxIdleTime, "conn-max-idle-time", 0, "SetConnMaxIdleTime, 0 = for ever (stages bounded, bulk, channel)")
	flags.DurationVar(&s.flushInterval, "flush-interval", time.Second, "longest time that a hit waits in memory (stages bulk, channel)")
	flags.IntVar(&s.batchSize, "batch-size", 1000, "most rows in one INSERT (stages bulk, channel)")
	flags.DurationVar(&s.databaseDelay, "db-delay", 0, "makes each statement take this much longer, inside the database")
	flags.Uint64Var(&s.fdLimit, "fd-limit", 0, "most open files of this process (soft RLIMIT_NOFILE), 0 = leave as it is")
	flags.BoolVar(&s.keepAlive, "keep-alive", true, "let clients reuse their connection for further hits")
	flags.IntVar(&s.queueSize, "queue-size", 100_000, "most hits held in memory; more are answered with 503 (stages bulk, channel)")
	s.misbehaviour.register(flags)
	flags.DurationVar(&s.logStats, "log-stats", 0, "log the pool's statistics at this interval, 0 = never")
	flags.DurationVar(&s.startTimeout, "start-timeout", 30*time.Second, "how long to wait for the database at the start")
	flags.DurationVar(&s.stopTimeout, "stop-timeout", 30*time.Second, "how long open requests, and then the last flush, may take at the end")
	flags.StringVar(&s.revision, "revision", "", "commit that the debug page names; default: the one that Go put into the program")
	if err := flags.Parse(arguments); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			flags.SetOutput(output)
			flags.PrintDefaults()
		}
		return s, err
	}
	if flags.NArg() > 0 {
		return s, fmt.Errorf("unexpected argument %q: this command takes flags only, see -help", flags.Arg(0))
	}
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if err := s.check(given); err != nil {
		return s, err
	}
	dsn, err := findDSN(dsn, dsnFile)
	if err != nil {
		return s, err
	}
	s.database, err = parseDSN(dsn)
	return s, err
}

// findDSN takes the DSN from the flag, the file or the environment: a command line is no place for a password.
func findDSN(dsn, file string) (string, error) {
	switch {
	case dsn != "" && file != "":
		return "", errors.New("-dsn and -dsn-file are both given: keep one of them")
	case dsn != "":
		return dsn, nil
	case file != "":
		text, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("-dsn-file: %w", err)
		}
		return strings.TrimSpace(string(text)), nil
	}
	return os.Getenv("MEASURING_SERVER_DSN"), nil
}

func (s *settings) check(given map[string]bool) error {
	if !slices.Contains(stageNames, s.stage) {
		return fmt.Errorf("-stage %q is not one of %s", s.stage, strings.Join(stageNames, ", "))
	}
	if s.stage == "naive" || s.stage == "default" {
		for _, name := range []string{"max-open", "max-idle", "conn-max-lifetime", "conn-max-idle-time"} {
			if given[name] {
				return fmt.Errorf("-%s has no effect in stage %s, whose point is that nobody set it: use -stage bounded", name, s.stage)
			}
		}
	}
	switch {
	case s.maxOpen < 0:
		return fmt.Errorf("-max-open %d is negative: give 0 for unlimited, or a number of connections", s.maxOpen)
	case s.maxIdle < 0:
		return fmt.Errorf("-max-idle %d is negative: give 0 to keep no idle connection", s.maxIdle)
	case s.batchSize < 1 || s.batchSize > maxBatchSize:
		return fmt.Errorf("-batch-size %d is not between 1 and %d rows", s.batchSize, maxBatchSize)
	case s.queueSize < 1:
		return fmt.Errorf("-queue-size %d is below 1", s.queueSize)
	case len(s.revision) > longestRevision:
		return fmt.Errorf("-revision is longer than %d bytes", longestRevision)
	case s.flushInterval <= 0:
		return fmt.Errorf("-flush-interval %s is not above 0", s.flushInterval)
	case s.fdLimit != 0 && s.fdLimit < 16:
		return fmt.Errorf("-fd-limit %d is too low to start: give at least 16", s.fdLimit)
	}
	if err := s.misbehaviour.check(); err != nil {
		return err
	}
	for name, value := range map[string]time.Duration{
		"conn-max-lifetime": s.connMaxLifetime, "conn-max-idle-time": s.connMaxIdleTime, "db-delay": s.databaseDelay, "log-stats": s.logStats,
	} {
		if value < 0 {
			return fmt.Errorf("-%s %s is negative", name, value)
		}
	}
	return nil
}

func parseDSN(dsn string) (*mysql.Config, error) {
	if dsn == "" {
		return nil, errors.New("no database: give -dsn or -dsn-file, or set MEASURING_SERVER_DSN, as user:password@tcp(host:port)/schema")
	}
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		// The driver's message does not repeat the DSN; neither does this one: it holds a password.
		return nil, fmt.Errorf("-dsn cannot be read (%w): it has the form user:password@tcp(host:port)/schema", err)
	}
	if config.DBName == "" {
		return nil, errors.New("-dsn names no schema: end it with /schema, for example tcp(127.0.0.1:3306)/hits")
	}
	// Times are written in UTC whatever the server's zone is, and one round trip stores one statement.
	config.Loc = time.UTC
	config.InterpolateParams = true
	if config.Params == nil {
		config.Params = map[string]string{}
	}
	config.Params["time_zone"] = "'+00:00'"
	config.ConnectionAttributes = "program_name:measuring-server"
	return config, nil
}
