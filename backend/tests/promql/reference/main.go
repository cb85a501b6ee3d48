// Reference answers from Prometheus' own engine.
//
// Reads a document of series and queries (see cases.py) from standard input, evaluates every query with the promql
// engine of the library on a TSDB in a temporary directory, and writes the same document with the answers, gzipped, to
// prometheus.json.gz in the directory that -out names:
//
//	python -m backend.tests.promql.reference.cases | (cd backend/tests/promql/reference && go run . -out ../golden)
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/tsdb"
)

// number is a float64 that may be "NaN", "+Inf", "-Inf" or "stale" in JSON.
type number float64

func (n *number) UnmarshalJSON(raw []byte) error {
	text := string(raw)
	if raw[0] == '"' {
		if err := json.Unmarshal(raw, &text); err != nil {
			return err
		}
	}
	if text == "stale" {
		*n = number(math.Float64frombits(value.StaleNaN))
		return nil
	}
	parsed, err := strconv.ParseFloat(text, 64)
	*n = number(parsed)
	return err
}

func (n number) MarshalJSON() ([]byte, error) {
	float := float64(n)
	switch {
	case value.IsStaleNaN(float):
		return []byte(`"stale"`), nil
	case math.IsNaN(float):
		return []byte(`"NaN"`), nil
	case math.IsInf(float, 1):
		return []byte(`"+Inf"`), nil
	case math.IsInf(float, -1):
		return []byte(`"-Inf"`), nil
	}
	return strconv.AppendFloat(nil, float, 'g', -1, 64), nil
}

type series struct {
	Labels map[string]string `json:"labels"`
	Times  []int64           `json:"times"`
	Values []number          `json:"values"`
}

// query is an instant query when Step is 0.
type query struct {
	Text  string  `json:"text"`
	Start int64   `json:"start"`
	End   int64   `json:"end"`
	Step  int64   `json:"step"`
	Type  string  `json:"type,omitempty"`
	Error string  `json:"error,omitempty"`
	Rows  []row   `json:"rows,omitempty"`
	Value *number `json:"value,omitempty"`
	Words string  `json:"words,omitempty"`
}

// row has one value a step, null where there is none; Times only where they are not those of the grid.
type row struct {
	Labels map[string]string `json:"labels"`
	Times  []int64           `json:"times,omitempty"`
	Values []*number         `json:"values"`
}

type document struct {
	Engine     string   `json:"engine"`
	LookbackMs int64    `json:"lookback_ms"`
	Series     []series `json:"series"`
	Queries    []query  `json:"queries"`
}

func main() {
	log.SetFlags(0)
	out := flag.String("out", "../golden", "directory of the golden files")
	flag.Parse()
	// Written in memory first, so that a failure leaves the former file as it is.
	var answers bytes.Buffer
	if err := run(os.Stdin, &answers); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*out, "prometheus.json.gz"), answers.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}

func run(input io.Reader, output io.Writer) (err error) {
	var doc document
	if err := json.NewDecoder(input).Decode(&doc); err != nil {
		return fmt.Errorf("reading the document: %w", err)
	}
	directory, err := os.MkdirTemp("", "promql-reference")
	if err != nil {
		return err
	}
	defer os.RemoveAll(directory)
	db, err := load(directory, doc.Series)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()

	engine := promql.NewEngine(promql.EngineOpts{
		MaxSamples:               50_000_000,
		Timeout:                  time.Minute,
		LookbackDelta:            time.Duration(doc.LookbackMs) * time.Millisecond,
		EnableAtModifier:         true,
		EnableNegativeOffset:     true,
		NoStepSubqueryIntervalFn: func(int64) int64 { return time.Minute.Milliseconds() },
		Parser: parser.NewParser(parser.Options{
			EnableExperimentalFunctions: true,
			ExperimentalDurationExpr:    true,
			EnableBinopFillModifiers:    true,
		}),
	})
	for i := range doc.Queries {
		if err := answer(engine, db, &doc.Queries[i]); err != nil {
			return fmt.Errorf("%s: %w", doc.Queries[i].Text, err)
		}
	}
	zipped, err := gzip.NewWriterLevel(output, gzip.BestCompression)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(zipped).Encode(doc); err != nil {
		return err
	}
	return zipped.Close()
}

func load(directory string, all []series) (*tsdb.DB, error) {
	options := tsdb.DefaultOptions()
	options.MinBlockDuration = int64(24 * time.Hour / time.Millisecond)
	options.MaxBlockDuration = options.MinBlockDuration
	options.RetentionDuration = 0
	db, err := tsdb.Open(directory, nil, nil, options, tsdb.NewDBStats())
	if err != nil {
		return nil, err
	}
	for _, one := range all {
		appender := db.Appender(context.Background())
		set := labels.FromMap(one.Labels)
		for i, at := range one.Times {
			if _, err := appender.Append(0, set, at, float64(one.Values[i])); err != nil {
				return nil, fmt.Errorf("%s at %d: %w", set, at, err)
			}
		}
		if err := appender.Commit(); err != nil {
			return nil, err
		}
	}
	return db, nil
}

func answer(engine *promql.Engine, db *tsdb.DB, q *query) error {
	ctx := context.Background()
	var prepared promql.Query
	var err error
	if q.Step == 0 {
		prepared, err = engine.NewInstantQuery(ctx, db, nil, q.Text, time.UnixMilli(q.Start))
	} else {
		step := time.Duration(q.Step) * time.Millisecond
		prepared, err = engine.NewRangeQuery(ctx, db, nil, q.Text, time.UnixMilli(q.Start), time.UnixMilli(q.End), step)
	}
	if err != nil {
		q.Error = "parse: " + err.Error()
		return nil
	}
	defer prepared.Close()
	result := prepared.Exec(ctx)
	if result.Err != nil {
		// Which of several duplicate series it names changes from run to run.
		message, _, _ := strings.Cut(result.Err.Error(), ": [")
		q.Error = "execution: " + message
		return nil
	}
	q.Type = string(result.Value.Type())
	switch found := result.Value.(type) {
	case promql.Scalar:
		q.Value = pointer(found.V)
	case promql.String:
		q.Words = found.V
	case promql.Vector:
		if !hasOwnOrder(q.Text) {
			sort.Slice(found, func(i, j int) bool { return labels.Compare(found[i].Metric, found[j].Metric) < 0 })
		}
		for _, sample := range found {
			if sample.H != nil {
				return errors.New("unexpected native histogram")
			}
			q.Rows = append(q.Rows, row{Labels: sample.Metric.Map(), Values: []*number{pointer(sample.F)}})
		}
	case promql.Matrix:
		sort.Sort(found)
		for _, one := range found {
			q.Rows = append(q.Rows, matrixRow(q, one))
		}
	default:
		return fmt.Errorf("unexpected type %T", found)
	}
	return nil
}

// hasOwnOrder tells whether PromQL says in which order the series of an instant vector come; any other order changes
// from run to run.
func hasOwnOrder(text string) bool {
	return strings.HasPrefix(text, "sort") || strings.HasPrefix(text, "topk") || strings.HasPrefix(text, "bottomk")
}

func matrixRow(q *query, found promql.Series) row {
	result := row{Labels: found.Metric.Map()}
	if q.Step == 0 {
		for _, point := range found.Floats {
			result.Times = append(result.Times, point.T)
			result.Values = append(result.Values, pointer(point.F))
		}
		return result
	}
	result.Values = make([]*number, (q.End-q.Start)/q.Step+1)
	for _, point := range found.Floats {
		result.Values[(point.T-q.Start)/q.Step] = pointer(point.F)
	}
	return result
}

func pointer(float float64) *number {
	boxed := number(float)
	return &boxed
}
