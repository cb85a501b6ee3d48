package main

import (
	"io"
	"os"
	"strings"
	"testing"
)

func TestWrongSettingsAreExplained(t *testing.T) {
	const dsn = "u:secret@tcp(127.0.0.1:1)/s"
	for _, example := range []struct{ arguments, says string }{
		{"-stage fast", `-stage "fast" is not one of naive, default`},
		{"-stage naive -max-open 3", "-max-open has no effect in stage naive"},
		{"-stage default -conn-max-lifetime 3s", "-conn-max-lifetime has no effect in stage default"},
		{"-stage naive -conn-max-idle-time 3s", "-conn-max-idle-time has no effect in stage naive"},
		{"-conn-max-idle-time -1s", "-conn-max-idle-time -1s is negative"},
		{"-revision " + strings.Repeat("r", 101), "-revision is longer than 100 bytes"},
		{"-max-open -1", "-max-open -1 is negative"},
		{"-max-idle -1", "-max-idle -1 is negative"},
		{"-batch-size 0", "-batch-size 0 is not between 1 and 5000"},
		{"-batch-size 5001", "-batch-size 5001 is not between"},
		{"-queue-size 0", "-queue-size 0 is below 1"},
		{"-flush-interval 0s", "-flush-interval 0s is not above 0"},
		{"-db-delay -1s", "-db-delay -1s is negative"},
		{"-fd-limit 3", "-fd-limit 3 is too low"},
		{"-cpu-per-hit 1h", "-cpu-per-hit 1h0m0s is not between"},
		{"-db-work -1", "-db-work -1 is not between"},
		{"-drop-share 1.5", "-drop-share 1.5 is not between 0 and 1"},
		{"-idle-timeout 0s", "-idle-timeout 0s is not above 0"},
		{"-nonsense", "-nonsense"},
		{"serve", `unexpected argument "serve"`},
		{"-dsn 127.0.0.1", "-dsn cannot be read"},
		{"-dsn u:secret@tcp(h:1)/", "-dsn names no schema"},
		{"-dsn u:secret@bad)/x/", "-dsn cannot be read"},
	} {
		_, err := parseSettings(append([]string{"-dsn", dsn}, strings.Fields(example.arguments)...), io.Discard)
		if err == nil || !strings.Contains(err.Error(), example.says) {
			t.Errorf("%s: %v", example.arguments, err)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error shows the password: %v", example.arguments, err)
		}
	}
}

func TestDSNComesFromAFile(t *testing.T) {
	path := t.TempDir() + "/dsn"
	if err := os.WriteFile(path, []byte("u:secret@tcp(127.0.0.1:1)/from_file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := parseSettings([]string{"-dsn-file", path}, io.Discard)
	if err != nil || s.database.DBName != "from_file" {
		t.Fatalf("%+v, %v", s, err)
	}
	for _, arguments := range [][]string{{"-dsn-file", path + "x"}, {"-dsn-file", path, "-dsn", "u@tcp(h:1)/s"}} {
		if _, err := parseSettings(arguments, io.Discard); err == nil || !strings.Contains(err.Error(), "-dsn-file") {
			t.Errorf("%v: %v", arguments, err)
		}
	}
}

func TestDSNComesFromTheEnvironment(t *testing.T) {
	if _, err := parseSettings(nil, io.Discard); err == nil || !strings.Contains(err.Error(), "MEASURING_SERVER_DSN") {
		t.Fatalf("without a database: %v", err)
	}
	t.Setenv("MEASURING_SERVER_DSN", "u@tcp(127.0.0.1:1)/s")
	s, err := parseSettings([]string{"-stage", "channel"}, io.Discard)
	if err != nil || s.database.DBName != "s" || s.stage != "channel" {
		t.Fatalf("%+v, %v", s, err)
	}
}
