// Reference for the two doors: OTLP as Prometheus translates it, and remote write 2.0 as its own codec writes it.
//
// Reads an array of {name, request} with OTLP requests in their JSON form (see cases.py) from standard input, and writes
// translations.json.gz (each request as protobuf, and what each strategy makes of it) and write_v2.binpb to the
// directory that -out names:
//
//	python -m backend.tests.ingest.reference.cases | (cd backend/tests/ingest/reference && go run . -out ../golden)
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"path/filepath"

	"github.com/prometheus/otlptranslator"
	"github.com/prometheus/prometheus/config"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	writev2 "github.com/prometheus/prometheus/prompb/io/prometheus/write/v2"
	"github.com/prometheus/prometheus/storage"
	prw "github.com/prometheus/prometheus/storage/remote/otlptranslator/prometheusremotewrite"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
)

type sample struct {
	Labels map[string]string `json:"labels"`
	Start  int64             `json:"start"`
	Time   int64             `json:"time"`
	Bits   string            `json:"bits"`
	Native bool              `json:"native,omitempty"`
	Count  uint64            `json:"count,omitempty"`
}

type meta struct {
	Type string `json:"type"`
	Unit string `json:"unit"`
	Help string `json:"help"`
}

type translation struct {
	Strategy string          `json:"strategy"`
	Promote  []string        `json:"promote"`
	Keep     bool            `json:"keep"`
	Scope    bool            `json:"scope"`
	Samples  []sample        `json:"samples"`
	Metadata map[string]meta `json:"metadata"`
	Error    string          `json:"error,omitempty"`
}

type answer struct {
	Name         string          `json:"name"`
	Request      json.RawMessage `json:"request"`
	Proto        []byte          `json:"proto"`
	Translations []translation   `json:"translations"`
}

type collector struct{ to *translation }

func (c collector) Append(_ storage.SeriesRef, ls labels.Labels, st, t int64, v float64, h *histogram.Histogram, _ *histogram.FloatHistogram, opts storage.AppendV2Options) (storage.SeriesRef, error) {
	one := sample{Labels: ls.Map(), Start: st, Time: t, Bits: fmt.Sprintf("%016x", math.Float64bits(v)), Native: h != nil}
	if h != nil {
		one.Count = h.Count
		one.Bits = fmt.Sprintf("%016x", math.Float64bits(h.Sum))
	}
	c.to.Samples = append(c.to.Samples, one)
	c.to.Metadata[opts.MetricFamilyName] = meta{Type: string(opts.Metadata.Type), Unit: opts.Metadata.Unit, Help: opts.Metadata.Help}
	return 1, nil
}

func (collector) Commit() error   { return nil }
func (collector) Rollback() error { return nil }

var strategies = []otlptranslator.TranslationStrategyOption{
	otlptranslator.UnderscoreEscapingWithSuffixes,
	otlptranslator.UnderscoreEscapingWithoutSuffixes,
	otlptranslator.NoUTF8EscapingWithSuffixes,
	otlptranslator.NoTranslation,
}

func translate(raw json.RawMessage, to *translation) ([]byte, error) {
	request := pmetricotlp.NewExportRequest()
	if err := request.UnmarshalJSON(raw); err != nil {
		return nil, err
	}
	option := otlptranslator.TranslationStrategyOption(to.Strategy)
	converter := prw.NewPrometheusConverter(collector{to})
	_, err := converter.FromMetrics(context.Background(), request.Metrics(), prw.Settings{
		AddMetricSuffixes:                 option.ShouldAddSuffixes(),
		AllowUTF8:                         !option.ShouldEscape(),
		PromoteResourceAttributes:         prw.NewPromoteResourceAttributes(config.OTLPConfig{PromoteResourceAttributes: to.Promote}),
		KeepIdentifyingResourceAttributes: to.Keep,
		PromoteScopeMetadata:              to.Scope,
	})
	if err != nil {
		to.Error = err.Error()
	}
	return request.MarshalProto()
}

func translations(cases []struct {
	Name    string          `json:"name"`
	Request json.RawMessage `json:"request"`
}) ([]answer, error) {
	var answers []answer
	for _, one := range cases {
		found := answer{Name: one.Name, Request: one.Request}
		for _, strategy := range strategies {
			for _, more := range []bool{false, true} {
				to := translation{Strategy: string(strategy), Keep: more, Scope: more, Promote: []string{}, Metadata: map[string]meta{}}
				if more {
					to.Promote = []string{"service.version", "host.name", "k8s.pod.name", "1st", "tags"}
				}
				proto, err := translate(one.Request, &to)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", one.Name, err)
				}
				found.Proto = proto
				found.Translations = append(found.Translations, to)
			}
		}
		answers = append(answers, found)
	}
	return answers, nil
}

// writeV2 is a request with labels in UTF-8, values at the edges, metadata, exemplars, histograms and start times.
func writeV2() ([]byte, error) {
	table := writev2.NewSymbolTable()
	series := func(kind writev2.Metadata_MetricType, help, unit string, pairs ...string) writev2.TimeSeries {
		return writev2.TimeSeries{
			LabelsRefs: table.SymbolizeLabels(labels.FromStrings(pairs...), nil),
			Metadata:   writev2.Metadata{Type: kind, HelpRef: table.Symbolize(help), UnitRef: table.Symbolize(unit)},
		}
	}
	const now = 1_750_000_000_000
	orders := series(writev2.Metadata_METRIC_TYPE_COUNTER, "Orders so far.", "", "__name__", "orders_total", "shop", "東京")
	orders.Samples = []writev2.Sample{{Value: 1, Timestamp: now, StartTimestamp: now - 60_000}, {Value: 2, Timestamp: now + 1000, StartTimestamp: now - 60_000}}
	orders.Exemplars = []writev2.Exemplar{{LabelsRefs: []uint32{table.Symbolize("trace_id"), table.Symbolize("abc")}, Value: 1, Timestamp: now}}
	level := series(writev2.Metadata_METRIC_TYPE_GAUGE, "", "bytes", "__name__", "level_bytes", "kind", "zero")
	level.Samples = []writev2.Sample{{Value: 0, Timestamp: now}}
	stale := series(writev2.Metadata_METRIC_TYPE_UNSPECIFIED, "", "", "__name__", "gone")
	stale.Samples = []writev2.Sample{{Value: math.Float64frombits(0x7ff0000000000002), Timestamp: now}}
	bucket := series(writev2.Metadata_METRIC_TYPE_HISTOGRAM, "How long.", "seconds", "__name__", "answer_seconds_bucket", "le", "+Inf")
	bucket.Samples = []writev2.Sample{{Value: 5, Timestamp: now}}
	native := series(writev2.Metadata_METRIC_TYPE_HISTOGRAM, "", "", "__name__", "native_seconds")
	native.Histograms = []writev2.Histogram{writev2.FromIntHistogram(0, now, &histogram.Histogram{Count: 3, Sum: 1, Schema: 1, PositiveSpans: []histogram.Span{{Offset: 0, Length: 1}}, PositiveBuckets: []int64{3}})}
	request := writev2.Request{Timeseries: []writev2.TimeSeries{orders, level, stale, bucket, native}}
	request.Symbols = table.Symbols()
	return request.Marshal()
}

func main() {
	out := flag.String("out", ".", "directory of the answers")
	flag.Parse()
	raw, err := io.ReadAll(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	var cases []struct {
		Name    string          `json:"name"`
		Request json.RawMessage `json:"request"`
	}
	if err := json.Unmarshal(raw, &cases); err != nil {
		log.Fatal(err)
	}
	answers, err := translations(cases)
	if err != nil {
		log.Fatal(err)
	}
	document, err := json.Marshal(answers)
	if err != nil {
		log.Fatal(err)
	}
	var packed bytes.Buffer
	writer, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if _, err := writer.Write(document); err != nil {
		log.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*out, "translations.json.gz"), packed.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
	second, err := writeV2()
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*out, "write_v2.binpb"), second, 0o644); err != nil {
		log.Fatal(err)
	}
}
