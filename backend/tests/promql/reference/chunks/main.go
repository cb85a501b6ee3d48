// Chunks as Prometheus' XOR encoder writes them:
//
//	(cd backend/tests/promql/reference && go run ./chunks -out ../golden/xor_chunks.json)
package main

import (
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand"
	"os"

	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
)

type chunk struct {
	Name   string   `json:"name"`
	Times  []int64  `json:"times"`
	Values []string `json:"values"` // bits, since JSON has no NaN
	Chunk  string   `json:"chunk"`
}

func encode(name string, times []int64, values []float64) chunk {
	made := chunkenc.NewXORChunk()
	appender, err := made.Appender()
	if err != nil {
		log.Fatal(err)
	}
	found := chunk{Name: name, Times: times}
	for i, t := range times {
		appender.Append(0, t, values[i])
		found.Values = append(found.Values, fmt.Sprintf("%016x", math.Float64bits(values[i])))
	}
	found.Chunk = hex.EncodeToString(made.Bytes())
	return found
}

func main() {
	log.SetFlags(0)
	out := flag.String("out", "../golden/xor_chunks.json", "the golden file")
	flag.Parse()
	source := rand.New(rand.NewSource(1))
	stale := math.Float64frombits(value.StaleNaN)
	var chunks []chunk
	for _, count := range []int{1, 2, 3, 120} {
		for kind, next := range map[string]func(i int) float64{
			"constant": func(int) float64 { return 1 },
			"counter":  func(i int) float64 { return float64(i * i) },
			"gauge":    func(int) float64 { return math.Round(source.Float64()*10000) / 100 },
			"random":   func(int) float64 { return source.NormFloat64() * 1e9 },
			"special": func(i int) float64 {
				return []float64{0, math.Copysign(0, -1), math.Inf(1), stale, math.NaN(), 5e-324, math.MaxFloat64}[i%7]
			},
		} {
			for jitter, wander := range map[string]int64{"steady": 0, "jitter": 50, "wide": 200_000, "far": 3_000_000} {
				times, values := make([]int64, count), make([]float64, count)
				t := int64(1_700_000_000_123)
				for i := range times {
					times[i], values[i] = t, next(i)
					t += 15_000 + wander
					if wander > 0 {
						t += source.Int63n(2*wander) - wander
					}
				}
				chunks = append(chunks, encode(fmt.Sprintf("%s %s %d", kind, jitter, count), times, values))
			}
		}
	}
	chunks = append(chunks, encode("before 1970", []int64{-5_000, -1, 0, 1}, []float64{1, 2, 3, 4}))
	content, err := json.Marshal(chunks)
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(*out, append(content, '\n'), 0o644); err != nil {
		log.Fatal(err)
	}
}
