# pyright: basic
"""The OTLP requests of the reference, as one JSON document on standard output; main.go answers them."""

import base64
import json
import sys
from typing import Any

T = "1750000000000000000"
T1 = "1750000001234567890"
S = "1749999940000000000"


def kv(**a):
    return [attr(k, v) for k, v in a.items()]


def val(v):
    if v is None:
        return {}
    if isinstance(v, bool):
        return {"boolValue": v}
    if isinstance(v, int):
        return {"intValue": str(v)}
    if isinstance(v, float):
        return {"doubleValue": v}
    if isinstance(v, bytes):
        return {"bytesValue": base64.b64encode(v).decode()}
    if isinstance(v, list):
        return {"arrayValue": {"values": [val(x) for x in v]}}
    if isinstance(v, dict):
        return {"kvlistValue": {"values": [attr(k, x) for k, x in v.items()]}}
    return {"stringValue": v}


def attr(k, v):
    return {"key": k, "value": val(v)}


def attrs(d):
    return [attr(k, v) for k, v in d.items()]


def num(v: Any, a: Any = None, t=T, s=S, **more):
    p = {"attributes": attrs(a or {}), "startTimeUnixNano": s, "timeUnixNano": t, **more}
    if isinstance(v, int):
        p["asInt"] = str(v)
    elif v is not None:
        p["asDouble"] = v
    return p


def gauge(n, *pts, unit="", help=""):
    return {"name": n, "unit": unit, "description": help, "gauge": {"dataPoints": list(pts)}}


def sum_(n, *pts, unit="", help="", mono=True, temp=2):
    return {
        "name": n,
        "unit": unit,
        "description": help,
        "sum": {"dataPoints": list(pts), "isMonotonic": mono, "aggregationTemporality": temp},
    }


def hist(n, *pts, unit="", help="", temp=2):
    return {
        "name": n,
        "unit": unit,
        "description": help,
        "histogram": {"dataPoints": list(pts), "aggregationTemporality": temp},
    }


def summ(n, *pts, unit="", help=""):
    return {"name": n, "unit": unit, "description": help, "summary": {"dataPoints": list(pts)}}


def exph(n, *pts, unit="", temp=2):
    return {"name": n, "unit": unit, "exponentialHistogram": {"dataPoints": list(pts), "aggregationTemporality": temp}}


def req(*rms):
    return {"resourceMetrics": list(rms)}


def rm(res, *sms):
    return {"resource": {"attributes": attrs(res)}, "scopeMetrics": list(sms)}


def sm(*ms, **scope):
    d: dict[str, Any] = {"metrics": list(ms)}
    if scope:
        url = scope.pop("schema", None)
        if url:
            d["schemaUrl"] = url
        if "attributes" in scope:
            scope["attributes"] = attrs(scope["attributes"])
        d["scope"] = scope
    return d


RES = {
    "service.name": "checkout",
    "service.namespace": "shop",
    "service.instance.id": "i-1",
    "service.version": "1.2.3",
    "host.name": "web-1",
}
cases = []


def case(n, r):
    cases.append({"name": n, "request": r})


names = [
    "http.server.duration",
    "orders",
    "orders_total",
    "orders.total",
    "total",
    "system.cpu.utilization",
    "1st.metric",
    "weird name!!with  spaces",
    "a__b___c",
    "_leading",
    "trailing_",
    "日本語.metric",
    "a:b",
    "cpu-time",
    "process.memory.bytes",
    "x.seconds.count",
    "ratio",
    "req/s",
    "bytes",
    "___x___",
    "é",
]
units = [
    "",
    "1",
    "s",
    "ms",
    "By",
    "KiBy",
    "MiBy",
    "MBy",
    "%",
    "{request}",
    "{request}/s",
    "By/s",
    "m/s",
    "1/s",
    "m/m",
    "Cel",
    "foo",
    "foo bar",
    "foo_/bar",
    "/s",
    "s/",
    "ns",
    "By/{request}",
    "kWh",
    "km/h",
    "_x_",
    "m/__y",
]
for kind in ("gauge", "counter", "updown"):
    ms = []
    for i, n in enumerate(names):
        for j, u in enumerate(units):
            if (i + j) % 3 and i > 3:
                continue
            p = num(1)
            ms.append(gauge(n, p, unit=u) if kind == "gauge" else sum_(n, p, unit=u, mono=kind == "counter"))
    case("names of " + kind, req(rm({"service.name": "n"}, sm(*ms))))
for n in ("", "___", "!!!"):
    case(f"no name {n!r}", req(rm(RES, sm(gauge("good", num(1)), gauge(n, num(1)), gauge("good2", num(2))))))
case(
    "histogram names",
    req(
        rm(
            RES,
            sm(
                *[
                    hist(
                        n,
                        {
                            "attributes": [],
                            "timeUnixNano": T,
                            "startTimeUnixNano": S,
                            "count": "3",
                            "sum": 1.5,
                            "bucketCounts": ["1", "2"],
                            "explicitBounds": [0.5],
                        },
                        unit=u,
                    )
                    for n in names[:8]
                    for u in units[:8]
                ]
            ),
        )
    ),
)
A = {
    "plain": "x",
    "http.request.method": "GET",
    "a.b": "1",
    "a_b": "2",
    "a-b": "3",
    "1digit": "d",
    "_under": "u",
    "__res__": "r",
    "__a.b__": "ab",
    "code": 200,
    "ok": True,
    "no": False,
    "half": 0.5,
    "big": 1e21,
    "tiny": 1e-7,
    "whole": 3.0,
    "neg": -5,
    "empty": "",
    "none": None,
    "raw": b"\x00\xff\x10",
    "list": ["a", 1, True, None, 2.5, ["n"]],
    "map": {"z": 1, "a": "<b>&", "n": {"x": [1]}, "e": None},
    "日本": "東京",
    "job": "mine",
    "instance": "other",
    "le": "5",
    "quantile": "9",
    "__name__": "evil",
    "max": 9223372036854775807,
    "large": 123456789.125,
    "e20": 1e20,
    "sep": 'a\u2028b"c\\d\n',
}
case(
    "attributes",
    req(
        rm(
            RES,
            sm(
                gauge("g", num(1, A), num(2, {k: v for k, v in A.items() if k not in ("job", "instance")})),
                sum_("c", num(3, A)),
                hist(
                    "h",
                    {
                        "attributes": attrs(A),
                        "timeUnixNano": T,
                        "count": "1",
                        "sum": 1,
                        "bucketCounts": ["1", "0"],
                        "explicitBounds": [1],
                    },
                ),
                summ(
                    "s",
                    {
                        "attributes": attrs(A),
                        "timeUnixNano": T,
                        "count": "1",
                        "sum": 1,
                        "quantileValues": [{"quantile": 0.5, "value": 1}],
                    },
                ),
            ),
        )
    ),
)
case(
    "repeated attributes",
    req(
        rm(RES, sm(gauge("g", {"attributes": attrs({"a": "1"}) + attrs({"a": "2"}), "timeUnixNano": T, "asInt": "1"})))
    ),
)
for bad in ("", "__", "_"):
    case(
        f"attribute name {bad!r}",
        req(
            rm(
                RES,
                sm(
                    gauge("first", num(0)),
                    gauge("g", num(1, {"ok": "1"}), num(1, {bad: "x"}), num(1, {"ok": "2"})),
                    gauge("after", num(2)),
                ),
            )
        ),
    )
case(
    "numbers",
    req(
        rm(
            RES,
            sm(
                gauge(
                    "g",
                    num(1.5),
                    num(-2, {"i": "2"}),
                    num(9007199254740993, {"i": "3"}),
                    num(None, {"i": "4"}),
                    num("NaN", {"i": "5"}),
                    num("Infinity", {"i": "6"}),
                    num("-Infinity", {"i": "7"}),
                    num(5, {"i": "8"}, flags=1),
                    num(5, {"i": "9"}, t=T1),
                    num(5, {"i": "11"}, s="0"),
                ),
                sum_("c", num(7), num(8, flags=1, t=T1)),
            ),
        )
    ),
)
case(
    "histograms",
    req(
        rm(
            RES,
            sm(
                hist(
                    "h",
                    {
                        "attributes": attrs({"r": "/"}),
                        "timeUnixNano": T,
                        "startTimeUnixNano": S,
                        "count": "10",
                        "sum": 12.5,
                        "min": 0.1,
                        "max": 9,
                        "bucketCounts": ["1", "2", "3", "4"],
                        "explicitBounds": [0.005, 1, 2.5],
                    },
                    {
                        "attributes": attrs({"r": "nosum"}),
                        "timeUnixNano": T,
                        "count": "10",
                        "bucketCounts": ["10"],
                        "explicitBounds": [],
                    },
                    {"attributes": attrs({"r": "nobuckets"}), "timeUnixNano": T, "count": "3", "sum": 4},
                    {
                        "attributes": attrs({"r": "stale"}),
                        "timeUnixNano": T,
                        "flags": 1,
                        "count": "10",
                        "sum": 1,
                        "bucketCounts": ["1", "9"],
                        "explicitBounds": [1],
                    },
                    {
                        "attributes": attrs({"r": "short"}),
                        "timeUnixNano": T,
                        "count": "7",
                        "sum": 1,
                        "bucketCounts": ["1", "2"],
                        "explicitBounds": [1, 2, 3],
                    },
                    {
                        "attributes": attrs({"r": "bounds"}),
                        "timeUnixNano": T,
                        "count": "7",
                        "sum": 1,
                        "bucketCounts": ["1", "1", "1", "1", "1", "1", "1"],
                        "explicitBounds": [-1e9, -0.25, 0, 1e-9, 100000, 1e21],
                    },
                    unit="s",
                    help="How long.",
                )
            ),
        )
    ),
)
case(
    "summaries",
    req(
        rm(
            RES,
            sm(
                summ(
                    "rpc.duration",
                    {
                        "attributes": attrs({"m": "x"}),
                        "timeUnixNano": T,
                        "startTimeUnixNano": S,
                        "count": "5",
                        "sum": 10.5,
                        "quantileValues": [
                            {"quantile": 0, "value": 1},
                            {"quantile": 0.5, "value": 2},
                            {"quantile": 0.99, "value": 3},
                            {"quantile": 1, "value": 9},
                        ],
                    },
                    {
                        "attributes": [],
                        "timeUnixNano": T,
                        "flags": 1,
                        "count": "5",
                        "sum": 10.5,
                        "quantileValues": [{"quantile": 0.5, "value": 2}],
                    },
                    unit="ms",
                    help="S",
                )
            ),
        )
    ),
)
case(
    "deltas are refused there",
    req(
        rm(
            RES,
            sm(
                sum_("d", num(5), temp=1),
                sum_("unspecified", num(5), temp=0),
                hist(
                    "dh",
                    {
                        "attributes": [],
                        "timeUnixNano": T,
                        "count": "1",
                        "sum": 1,
                        "bucketCounts": ["1"],
                        "explicitBounds": [],
                    },
                    temp=1,
                ),
                gauge("ok", num(1)),
            ),
        )
    ),
)
case(
    "empty points",
    req(rm(RES, sm(gauge("g"), sum_("c"), hist("h"), summ("s"), {"name": "nothing"}, gauge("ok", num(1))))),
)
case(
    "scopes",
    req(
        rm(
            RES,
            sm(
                gauge("a", num(1, {"x": "y"})),
                name="lib",
                version="1.0",
                schema="https://x/1",
                attributes={"team": "a", "t.b": 3, "name": "evil"},
            ),
            sm(gauge("b", num(2)), version="only"),
            sm(gauge("c", num(3)), name="lib2"),
        )
    ),
)
for n, r in {
    "no resource": {},
    "name alone": {"service.name": "a"},
    "namespace alone": {"service.namespace": "ns", "x": "y"},
    "instance alone": {"service.instance.id": "i", "x": "y"},
    "no identity": {"x": "y", "host.name": "h"},
    "identity alone": {"service.name": "a", "service.namespace": "b", "service.instance.id": "c"},
    "number as name": {
        "service.name": 5,
        "service.instance.id": 7,
        "k8s.pod.name": "p",
        "tags": ["a", "b"],
        "1st": 1,
        "__name__": "q",
        "job": "j",
        "a.b": "1",
        "a_b": "2",
        "empty": "",
    },
}.items():
    case("resource: " + n, req(rm(r, sm(gauge("g", num(1, {"host.name": "of the point"}), num(2, {"k": "v"}))))))
case(
    "bad resource attribute",
    req(rm({**RES, "": "x"}, sm(gauge("g", num(1)))), rm({"service.name": "b"}, sm(gauge("h", num(1))))),
)
case(
    "target_info over minutes",
    req(
        rm(
            RES,
            sm(
                gauge(
                    "g",
                    num(1, t=T),
                    num(1, {"a": "b"}, t="1750000400000000000"),
                    num(1, {"a": "c"}, t="1750000100000000000"),
                )
            ),
        ),
        rm(RES, sm(gauge("g2", num(1, t=T)))),
    ),
)
case(
    "several resources",
    req(
        rm(RES, sm(gauge("g", num(1)))),
        rm(
            {**RES, "service.instance.id": "i-2", "deployment.environment": "prod"},
            sm(gauge("g", num(2)), sum_("c", num(3), unit="By", help="Bytes.")),
        ),
    ),
)


def ex(scale, off, counts, noff=0, ncounts=(), zero=0, **more):
    n = sum(counts) + sum(ncounts) + zero
    return {
        "attributes": [],
        "timeUnixNano": T,
        "startTimeUnixNano": S,
        "count": str(n),
        "sum": 1.5,
        "scale": scale,
        "zeroCount": str(zero),
        "positive": {"offset": off, "bucketCounts": [str(c) for c in counts]},
        "negative": {"offset": noff, "bucketCounts": [str(c) for c in ncounts]},
        **more,
    }


case(
    "exponential",
    req(
        rm(
            RES,
            sm(
                exph("e", ex(0, 0, [1, 2, 3]), unit="s"),
                exph("e2", ex(20, -10, [1] * 100, zero=4)),
                exph("e3", ex(3, -100, [0, 1, 0, 5], 5, [2, 2], zero=1)),
                exph("e4", ex(0, 0, [1], flags=1)),
            ),
        )
    ),
)
case("nothing", {})

if __name__ == "__main__":
    json.dump(cases, sys.stdout, ensure_ascii=False, separators=(",", ":"))
