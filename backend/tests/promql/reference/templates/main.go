// Reference answers of Prometheus' template expander, as rules use it.
//
// Reads a document of contexts and templates (see backend/tests/rules/reference/templates.py) from standard input,
// expands each as rules/alerting.go does, and writes the same document with the results:
//
//	python -m backend.tests.rules.reference.templates | (cd backend/tests/promql/reference && go run ./templates -out ../../rules/golden/templates.json)
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/template"
)

type sample struct {
	Labels map[string]string `json:"labels"`
	Value  string            `json:"value"`
}

type document struct {
	Engine         string              `json:"engine"`
	Labels         map[string]string   `json:"labels"`
	ExternalLabels map[string]string   `json:"external_labels"`
	ExternalURL    string              `json:"external_url"`
	TimeMs         int64               `json:"time_ms"`
	Queries        map[string][]sample `json:"queries"`
	Cases          []*testCase         `json:"cases"`
}

// testCase has its value as text, because JSON has no NaN.
type testCase struct {
	Text    string `json:"text"`
	Value   string `json:"value"`
	Result  string `json:"result"`
	Error   bool   `json:"error,omitempty"`
	Parses  bool   `json:"parses"`
	Message string `json:"message,omitempty"`
}

func main() {
	log.SetFlags(0)
	out := flag.String("out", "../../rules/golden/templates.json", "the golden file")
	flag.Parse()
	var doc document
	if err := json.NewDecoder(os.Stdin).Decode(&doc); err != nil {
		log.Fatal("reading the document: ", err)
	}
	external, err := url.Parse(doc.ExternalURL)
	if err != nil {
		log.Fatal(err)
	}
	for _, one := range doc.Cases {
		expand(&doc, external, one)
	}
	var answers bytes.Buffer
	encoder := json.NewEncoder(&answers)
	encoder.SetIndent("", " ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(doc); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(*out, answers.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}

func number(text string) float64 {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func expand(doc *document, external *url.URL, one *testCase) {
	query := func(_ context.Context, text string, _ time.Time) (promql.Vector, error) {
		found, known := doc.Queries[text]
		if !known {
			return nil, fmt.Errorf("no such query: %s", text)
		}
		var vector promql.Vector
		for _, one := range found {
			vector = append(vector, promql.Sample{T: doc.TimeMs, F: number(one.Value), Metric: labels.FromMap(one.Labels)})
		}
		return vector, nil
	}
	data := template.AlertTemplateData(doc.Labels, doc.ExternalLabels, doc.ExternalURL, promql.Sample{F: number(one.Value)})
	// As in rules/alerting.go.
	definitions := []string{
		"{{$labels := .Labels}}",
		"{{$externalLabels := .ExternalLabels}}",
		"{{$externalURL := .ExternalURL}}",
		"{{$value := .Value}}",
	}
	expander := template.NewTemplateExpander(
		context.Background(), strings.Join(append(definitions, one.Text), ""), "__alert_A", data,
		model.Time(doc.TimeMs), query, external, nil,
	)
	one.Parses = expander.ParseTest() == nil
	result, err := expander.Expand()
	if err != nil {
		one.Error, one.Message = true, err.Error()
		return
	}
	one.Result = result
}
