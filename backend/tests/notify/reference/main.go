// Command reference answers questions with Alertmanager's own packages: what matchers mean, where alerts go, and which
// instants time intervals contain. Cases come in as JSON by standard input; see cases.py.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/common/model"
	"gopkg.in/yaml.v2"

	"github.com/prometheus/alertmanager/config"
	"github.com/prometheus/alertmanager/dispatch"
	"github.com/prometheus/alertmanager/featurecontrol"
	"github.com/prometheus/alertmanager/matcher/compat"
	"github.com/prometheus/alertmanager/pkg/labels"
	"github.com/prometheus/alertmanager/timeinterval"
)

type cases struct {
	Matchers []struct {
		Text   string   `json:"text"`
		Values []string `json:"values"`
	} `json:"matchers"`
	Routes []struct {
		Name   string              `json:"name"`
		Config string              `json:"config"`
		Labels []map[string]string `json:"labels"`
	} `json:"routes"`
	Intervals []struct {
		Text     string   `json:"text"`
		Instants []string `json:"instants"`
	} `json:"intervals"`
}

type parsed struct {
	Error    bool       `json:"error"`
	Matchers [][]string `json:"matchers,omitempty"`
	Text     string     `json:"text,omitempty"`
	Matches  []bool     `json:"matches,omitempty"`
}

type matcherAnswer struct {
	Text     string   `json:"text"`
	Values   []string `json:"values,omitempty"`
	Classic  parsed   `json:"classic"`
	UTF8     parsed   `json:"utf8"`
	Fallback parsed   `json:"fallback"`
}

type place struct {
	Receiver    string            `json:"receiver"`
	RouteKey    string            `json:"route_key"`
	GroupKey    string            `json:"group_key"`
	GroupLabels map[string]string `json:"group_labels"`
	Wait        int64             `json:"wait_ms"`
	Interval    int64             `json:"interval_ms"`
	Repeat      int64             `json:"repeat_ms"`
}

type routeAnswer struct {
	Name   string        `json:"name"`
	Config string        `json:"config"`
	Error  bool          `json:"error"`
	Alerts []alertAnswer `json:"alerts,omitempty"`
}

type alertAnswer struct {
	Labels      map[string]string `json:"labels"`
	Fingerprint string            `json:"fingerprint"`
	Places      []place           `json:"places"`
}

type intervalAnswer struct {
	Text     string          `json:"text"`
	Error    bool            `json:"error"`
	Contains map[string]bool `json:"contains,omitempty"`
}

func parse(parser compat.ParseMatchers, text string, values []string) parsed {
	found, err := parser(text, "reference")
	if err != nil {
		return parsed{Error: true}
	}
	answer := parsed{Text: labels.Matchers(found).String(), Matchers: [][]string{}}
	for _, one := range found {
		answer.Matchers = append(answer.Matchers, []string{one.Name, one.Type.String(), one.Value})
	}
	for _, value := range values {
		answer.Matches = append(answer.Matches, len(found) > 0 && found[0].Matches(value))
	}
	return answer
}

func places(root *dispatch.Route, set model.LabelSet) []place {
	var answers []place
	for _, route := range root.Match(set) {
		group := model.LabelSet{}
		for name, value := range set {
			if _, ok := route.RouteOpts.GroupBy[name]; ok || route.RouteOpts.GroupByAll {
				group[name] = value
			}
		}
		named := map[string]string{}
		for name, value := range group {
			named[string(name)] = string(value)
		}
		answers = append(answers, place{
			Receiver:    route.RouteOpts.Receiver,
			RouteKey:    route.Key(),
			GroupKey:    fmt.Sprintf("%s:%s", route.Key(), group),
			GroupLabels: named,
			Wait:        route.RouteOpts.GroupWait.Milliseconds(),
			Interval:    route.RouteOpts.GroupInterval.Milliseconds(),
			Repeat:      route.RouteOpts.RepeatInterval.Milliseconds(),
		})
	}
	return answers
}

func write(path string, answers any) {
	text, err := json.MarshalIndent(answers, "", " ")
	if err == nil {
		err = os.WriteFile(path, append(text, '\n'), 0o644)
	}
	if err != nil {
		panic(err)
	}
}

func main() {
	out := flag.String("out", ".", "directory of the golden files")
	flag.Parse()
	var given cases
	if err := json.NewDecoder(os.Stdin).Decode(&given); err != nil {
		panic(err)
	}
	logger := slog.New(slog.DiscardHandler)
	compat.InitFromFlags(logger, featurecontrol.NoopFlags{})

	matchers := []matcherAnswer{}
	for _, one := range given.Matchers {
		matchers = append(matchers, matcherAnswer{
			Text:     one.Text,
			Values:   one.Values,
			Classic:  parse(compat.ClassicMatchersParser(logger), one.Text, one.Values),
			UTF8:     parse(compat.UTF8MatchersParser(logger), one.Text, one.Values),
			Fallback: parse(compat.FallbackMatchersParser(logger), one.Text, one.Values),
		})
	}
	write(filepath.Join(*out, "matchers.json"), matchers)

	routes := []routeAnswer{}
	for _, one := range given.Routes {
		answer := routeAnswer{Name: one.Name, Config: one.Config}
		loaded, err := config.Load(one.Config)
		if err != nil {
			answer.Error = true
		} else {
			root := dispatch.NewRoute(loaded.Route, nil)
			for _, named := range one.Labels {
				set := model.LabelSet{}
				for name, value := range named {
					set[model.LabelName(name)] = model.LabelValue(value)
				}
				answer.Alerts = append(answer.Alerts, alertAnswer{
					Labels: named, Fingerprint: set.Fingerprint().String(), Places: places(root, set),
				})
			}
		}
		routes = append(routes, answer)
	}
	write(filepath.Join(*out, "routes.json"), routes)

	intervals := []intervalAnswer{}
	for _, one := range given.Intervals {
		answer := intervalAnswer{Text: one.Text}
		var interval timeinterval.TimeInterval
		if err := yaml.UnmarshalStrict([]byte(one.Text), &interval); err != nil {
			answer.Error = true
		} else {
			answer.Contains = map[string]bool{}
			for _, text := range one.Instants {
				instant, err := time.Parse(time.RFC3339, text)
				if err != nil {
					panic(err)
				}
				answer.Contains[text] = interval.ContainsTime(instant.UTC())
			}
		}
		intervals = append(intervals, answer)
	}
	write(filepath.Join(*out, "intervals.json"), intervals)
}
