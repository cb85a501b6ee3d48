"""Files of whoever runs the server, and what editors send: rules, templates, notifications, thresholds, tokens."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

from loadwatch_backend.access.sign_in.sign_in import seal, unseal
from loadwatch_backend.access.token_file import TokenFileError, hash_token, match_token, parse_tokens
from loadwatch_backend.alerting.notify.file.configuration import parse_configuration
from loadwatch_backend.alerting.notify.file.matchers import MatcherError, parse_matchers
from loadwatch_backend.alerting.notify.record import ConfigurationError
from loadwatch_backend.alerting.rules.read import read_rules
from loadwatch_backend.alerting.rules.template import TemplateContext, TemplateError, check_template, expand
from loadwatch_backend.runs.analysis.thresholds import ThresholdError, parse_threshold
from loadwatch_formats.backoff import parse_retry_after

from tests.fuzz.target import Run, Target
from tests.fuzz.targets.queries import text_of

_ROOT = Path(__file__).parents[3]
YAML_WORDS = (
    *(
        ": ",
        "- ",
        "\n",
        "\n  ",
        "\n    - ",
        "{",
        "}",
        "[",
        "]",
        "&a ",
        "*a",
        "<<: *a",
        "!!python/object:a ",
        "|\n",
        ">-\n",
    ),
    *(
        "? ",
        "---\n",
        "...\n",
        "%YAML 1.2\n",
        "#",
        "'",
        '"',
        "\t",
        "~",
        "null",
        "1e999",
        "0o7",
        "2026-01-01",
        "=",
        "\ufeff",
    ),
)
_RULE_WORDS = (
    "groups",
    "name",
    "rules",
    "alert",
    "record",
    "expr",
    "for",
    "labels",
    "annotations",
    "interval",
    "limit",
    "5m",
)
_TEMPLATE_WORDS = (
    *(
        "{{",
        "}}",
        "{{-",
        "-}}",
        "{{range ",
        "{{if ",
        "{{else}}",
        "{{else if ",
        "{{end}}",
        "{{with ",
        "{{define ",
        "{{block ",
    ),
    *(
        "{{template ",
        "{{break}}",
        "{{continue}}",
        "{{/*",
        "*/}}",
        "$x",
        " := ",
        " = ",
        " | ",
        "(",
        ")",
        '"a"',
        "`b`",
        "'c'",
    ),
    *("$labels", "$value", ".Labels.job", ".Value", "$labels.job", "1000000", "1.5", "-3", "0x1p4", "true", "nil", "."),
    *(
        "printf ",
        '"%10000d" ',
        '"%[9]*.[2]*f" ',
        '"%v" ',
        "print ",
        "html ",
        "js ",
        "urlquery ",
        "len ",
        "index ",
        "slice ",
    ),
    *(
        "eq ",
        "lt ",
        "and ",
        "or ",
        "not ",
        "args ",
        "query ",
        "first ",
        "sortByLabel ",
        "reReplaceAll ",
        "match ",
        "title ",
    ),
    *(
        "toUpper ",
        "humanize ",
        "humanizeDuration ",
        "toTime ",
        "parseDuration ",
        "stripDomain ",
        "value ",
        "label ",
        "call ",
    ),
)
_TOKENS = json.dumps(
    {
        "version": 1,
        "tokens": [{"name": "a", "role": "viewer", "sha256": "0" * 64, "created": "2026-01-01T00:00:00+00:00"}],
    }
).encode()
_TEMPLATES = (
    b"{{ $labels.instance }} is at {{ $value | humanizePercentage }} since {{ $value | humanizeTimestamp }}",
    b'{{ range query "up" }}{{ .Labels.job }}: {{ .Value }} {{ end }}',
    b'{{ $x := "aaaa" }}{{ range 100000 }}{{ $x = print $x $x }}{{ end }}{{ $x }}',
    b"{{ $x := args 1 2 }}{{ range 60 }}{{ $x = args $x $x }}{{ end }}{{ $x }}",
    b'{{ $x := printf "%10000d" 1 }}{{ range 1000 }}{{ $x = reReplaceAll "0*" $x $x }}{{ end }}',
    b"{{ range 100000 }}{{ range 100000 }}{{ end }}{{ end }}",
    b'{{ define "a" }}{{ template "a" . }}{{ end }}{{ template "a" . }}',
    b"{{ if true }}a" + b"{{ else if true }}b" * 500 + b"{{ end }}",
    b"{{ " + b"(" * 50 + b"print 1" + b")" * 50 + b" }}",
    b'{{ printf "%99999999999999999999d %*d %.5000f" 1 2 3 4.0 }}',
    b'{{ with $y := 5 }}{{ $y }}{{ end }}{{ $labels.job | title | toUpper | reReplaceAll "(.)" "$1$1" }}',
)


def _template() -> Run:
    samples = [({"job": f"job-{number}", "__name__": "up"}, float(number)) for number in range(50)]
    context = TemplateContext(
        labels={"job": "api", "instance": "10.0.0.1:9100"},
        value=0.93,
        external_url="https://watch.example.com/x",
        time_ms=1_700_000_000_000,
        query=lambda _: samples,
    )

    def run(data: bytes) -> None:
        text = text_of(data)
        check_template(text)
        written = expand(text, context)
        assert len(written) < 1_000_000, f"{len(written)} characters"

    return run


def _one_expression(random: Random) -> bytes:
    return b"{{" + "".join(random.choices(_TEMPLATE_WORDS[12:], k=random.randrange(1, 30))).encode() + b"}}"


def _yaml_files(*patterns: str) -> Callable[[], Sequence[bytes]]:
    return lambda: [path.read_bytes()[:60_000] for pattern in patterns for path in sorted(_ROOT.glob(pattern))[:40]]


def _rules() -> Run:
    return lambda data: _done(read_rules(data, "rules.yml", 15_000))


def _configuration() -> Run:
    return lambda data: _done(parse_configuration(text_of(data), "notifications.yml"))


def _matchers() -> Run:
    labels = {"a": "b", "job": "api" * 100, "x": ""}

    def run(data: bytes) -> None:
        for matcher in parse_matchers(text_of(data)):
            str(matcher)
            for value in labels.values():
                matcher.matches(value)

    return run


def _threshold() -> Run:
    return lambda data: _done(parse_threshold(text_of(data), {}))


def _credentials() -> Run:
    key = b"k" * 32
    good = seal(key, "state", {"a": 1}, 2_000)
    records = parse_tokens(_TOKENS.decode(), "tokens.json")

    def run(data: bytes) -> None:
        text = text_of(data)
        for value in (text, f"{text}.{good.rpartition('.')[2]}", good[: len(text) % len(good)] + text):
            unseal(key, "state", value, 1_000)
            match_token(records, hash_token(value))
        parse_retry_after(text, 1_700_000_000_000, 3_600.0)

    return run


def _tokens() -> Run:
    return lambda data: _done(parse_tokens(text_of(data), "tokens.json"))


def _done(value: object) -> None:
    del value


DOCUMENTS: tuple[Target, ...] = (
    Target(
        name="rule files",
        open=_rules,
        expected=(),
        corpus=_yaml_files("backend/loadwatch_backend/alerting/rules/**/*.yml", "examples/**/*.yml"),
        words=(*YAML_WORDS, *_RULE_WORDS, *_TEMPLATE_WORDS[:12]),
    ),
    Target(
        name="templates of rules",
        open=_template,
        expected=(TemplateError,),
        corpus=lambda: _TEMPLATES,
        words=_TEMPLATE_WORDS,
        generate=_one_expression,
        longest=80_000,
    ),
    Target(
        name="notification files",
        open=_configuration,
        expected=(ConfigurationError,),
        corpus=_yaml_files("examples/alerting/*.yml"),
        words=(
            *YAML_WORDS,
            "route",
            "receiver",
            "receivers",
            "matchers",
            "time_intervals",
            "mute_time_intervals",
            "url",
        ),
    ),
    Target(
        name="matchers of routes and silences",
        open=_matchers,
        expected=(MatcherError,),
        corpus=lambda: [b'{a="b", c=~"d|e", f!~".*x"}', b"a=b", b'"a b"!="c\\n"', b"a = " + b" " * 500 + b"x"],
        words=("=", "!=", "=~", "!~", "{", "}", ",", '"', "'", "\\", " ", "a", "\\u1234", "\\xff", "(", "*", "é"),
        longest=16_000,
    ),
    Target(
        name="thresholds of runs",
        open=_threshold,
        expected=(ThresholdError,),
        corpus=lambda: [
            b"p95 < 300ms",
            b"failures <= 0.1 %",
            b"p99(GET /a) < 2s over steady",
            b"rate > 95 % of target",
        ],
        words=("<", ">", "<=", "p95", "%", "ms", "over ", "steady", "(", ")", '"', "of target", "1e9", ",", "5m..10m"),
        longest=4_000,
    ),
    Target(
        name="cookies, tokens, Retry-After",
        open=_credentials,
        expected=(),
        corpus=lambda: [b"a.b.c", b"120", b"Wed, 21 Oct 2026 07:28:00 GMT", b"eyJhIjoxfQ.0123456789abcdef"],
        words=(".", "=", "-", "_", "eyJ", "GMT", "\x00", "é"),
        longest=16_000,
    ),
    Target(
        name="token files",
        open=_tokens,
        expected=(TokenFileError,),
        corpus=lambda: [_TOKENS],
        words=(
            "{",
            "}",
            "[",
            "]",
            '"',
            ":",
            ",",
            "null",
            "1e999",
            '"name"',
            '"role"',
            '"sha256"',
            '"viewer"',
            '"created"',
        ),
    ),
)
