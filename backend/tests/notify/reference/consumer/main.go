// Reads webhook bodies as a receiver does that is written for Alertmanager: with its own types and its own templates.
//
// Standard input is a JSON list of bodies; the file named by -out gets what was understood of each.
package main

import (
	"encoding/json"
	"flag"
	"log"
	"log/slog"
	"net/url"
	"os"

	"github.com/prometheus/alertmanager/notify/webhook"
	"github.com/prometheus/alertmanager/template"
	"github.com/prometheus/common/model"
)

type alert struct {
	Status       string `json:"status"`
	Name         string `json:"name"`
	StartsMs     int64  `json:"starts_ms"`
	EndsMs       int64  `json:"ends_ms"`
	Over         bool   `json:"over"`
	Fingerprint  bool   `json:"fingerprint_matches"`
	GeneratorURL string `json:"generator_url"`
}

type understood struct {
	Version   string            `json:"version"`
	GroupKey  string            `json:"group_key"`
	Truncated uint64            `json:"truncated"`
	Receiver  string            `json:"receiver"`
	Status    string            `json:"status"`
	Subject   string            `json:"subject"`
	Firing    int               `json:"firing"`
	Resolved  int               `json:"resolved"`
	Common    map[string]string `json:"common_labels"`
	Alerts    []alert           `json:"alerts"`
}

func main() {
	out := flag.String("out", "", "file to write")
	flag.Parse()
	var bodies []json.RawMessage
	must(json.NewDecoder(os.Stdin).Decode(&bodies))
	templates, err := template.FromGlobs(nil)
	must(err)
	templates.ExternalURL, err = url.Parse("https://watch.example.org")
	must(err)
	slog.SetDefault(slog.New(slog.DiscardHandler))
	found := make([]understood, 0, len(bodies))
	for _, body := range bodies {
		found = append(found, read(templates, body))
	}
	text, err := json.MarshalIndent(found, "", " ")
	must(err)
	must(os.WriteFile(*out, append(text, '\n'), 0o644))
}

func read(templates *template.Template, body []byte) understood {
	var message webhook.Message
	must(json.Unmarshal(body, &message))
	subject, err := templates.ExecuteTextString(`{{ template "__subject" . }}`, message.Data)
	must(err)
	result := understood{
		Version: message.Version, GroupKey: message.GroupKey, Truncated: message.TruncatedAlerts,
		Receiver: message.Receiver, Status: message.Status, Subject: subject,
		Firing: len(message.Alerts.Firing()), Resolved: len(message.Alerts.Resolved()), Common: message.CommonLabels,
	}
	for _, one := range message.Alerts {
		labels := model.LabelSet{}
		for name, value := range one.Labels {
			labels[model.LabelName(name)] = model.LabelValue(value)
		}
		ends := int64(0)
		if !one.EndsAt.IsZero() {
			ends = one.EndsAt.UnixMilli()
		}
		result.Alerts = append(result.Alerts, alert{
			Status: one.Status, Name: one.Labels["alertname"], StartsMs: one.StartsAt.UnixMilli(), EndsMs: ends,
			Over: !one.EndsAt.IsZero(), GeneratorURL: one.GeneratorURL,
			Fingerprint: labels.Fingerprint().String() == one.Fingerprint,
		})
	}
	return result
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
