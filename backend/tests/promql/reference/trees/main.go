// Trees of expressions as Prometheus' parse_query gives them.
//
// Reads a list of expressions (see backend/tests/promql/reference/trees.py) from standard input:
//
//	python -m backend.tests.promql.reference.trees | (cd backend/tests/promql/reference && go run ./trees -out ../golden/trees.json.gz)
package main

import (
	"compress/gzip"
	"encoding/json"
	"flag"
	"log"
	"os"
	_ "unsafe" // for go:linkname

	"github.com/prometheus/prometheus/promql/parser"
	_ "github.com/prometheus/prometheus/web/api/v1" // has the function below
)

//go:linkname translateAST github.com/prometheus/prometheus/web/api/v1.translateAST
func translateAST(node parser.Expr) any

type tree struct {
	Query string `json:"query"`
	Tree  any    `json:"tree"`
}

func main() {
	log.SetFlags(0)
	out := flag.String("out", "../golden/trees.json.gz", "the golden file")
	flag.Parse()
	var queries []string
	if err := json.NewDecoder(os.Stdin).Decode(&queries); err != nil {
		log.Fatal("reading the expressions: ", err)
	}
	p := parser.NewParser(parser.Options{
		EnableExperimentalFunctions: true, ExperimentalDurationExpr: true, EnableExtendedRangeSelectors: true,
		EnableBinopFillModifiers: true,
	})
	trees := make([]tree, 0, len(queries))
	for _, query := range queries {
		if expr, err := p.ParseExpr(query); err == nil {
			trees = append(trees, tree{Query: query, Tree: translateAST(expr)})
		}
	}
	file, err := os.Create(*out)
	if err != nil {
		log.Fatal(err)
	}
	packed, err := gzip.NewWriterLevel(file, gzip.BestCompression)
	if err != nil {
		log.Fatal(err)
	}
	if err := json.NewEncoder(packed).Encode(trees); err != nil {
		log.Fatal(err)
	}
	if err := packed.Close(); err != nil {
		log.Fatal(err)
	}
	if err := file.Close(); err != nil {
		log.Fatal(err)
	}
}
