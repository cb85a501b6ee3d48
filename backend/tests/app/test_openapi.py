import json
import re
from pathlib import Path
from typing import Any, cast

import pytest
import schemathesis
from hypothesis import HealthCheck, assume, given, settings
from loadwatch_backend.app.openapi import format_document, main
from loadwatch_backend.core.http_protocol import HEAD_BYTES
from requests import Request
from schemathesis import GenerationMode, checks

COMMITTED = Path(__file__).parents[2] / "openapi.json"
EXAMPLES = 10
PATIENCE_SECONDS = 120
SLOW_IS_FINE = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
DOCUMENT = COMMITTED.read_text()
SCHEMA = schemathesis.openapi.from_dict(json.loads(DOCUMENT))
# Random bytes are what an archive may be, too.
schemathesis.serializer.alias("application/zip", "application/octet-stream")
OPERATIONS = [f"{method} {path}" for path, operations in json.loads(DOCUMENT)["paths"].items() for method in operations]


def test_the_committed_document_is_up_to_date(tmp_path: Path):
    main([str(tmp_path / "openapi.json")])
    assert (tmp_path / "openapi.json").read_text() == COMMITTED.read_text(), "run `make generate`"


def test_every_operation_is_described_and_declares_its_errors():
    document = json.loads(format_document())
    operations = [(path, op) for path, ops in document["paths"].items() for op in ops.values()]
    assert [path for path, op in operations if not op.get("summary")] == []
    names = [op["operationId"] for _, op in operations]
    assert len(names) == len(set(names))
    assert [path for path, op in operations if path.startswith("/api/") and "default" not in op["responses"]] == []


def test_every_integer_that_a_request_carries_has_a_most():
    """Python's have no end, and a database answers too large a one with an error that nobody put into words."""
    document = json.loads(DOCUMENT)
    seen: set[str] = set()
    endless: list[str] = []

    def look(found: Any, place: str) -> None:
        if isinstance(found, dict):
            node = cast(dict[str, Any], found)
            if node.get("type") == "integer" and not {"maximum", "exclusiveMaximum", "enum", "const"} & set(node):
                endless.append(place)
            name = str(node.get("$ref", "")).rpartition("/")[2]
            if name and name not in seen:
                seen.add(name)
                look(document["components"]["schemas"][name], name)
            for key, value in node.items():
                look(value, f"{place}.{key}")
        elif isinstance(found, list):
            for value in cast(list[Any], found):
                look(value, place)

    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            look(operation.get("requestBody"), f"{method} {path}")
            for parameter in operation.get("parameters", []):
                look(parameter["schema"], f"{method} {path} {parameter['name']}")
    assert endless == []


# Streams have no end; remote write is not JSON, and Prometheus' API has tests against Prometheus itself.
LEFT_OUT = r"^(/api/live|/prometheus/.*)$"
CHECKED: list[Any] = [
    cast(Any, checks).not_a_server_error,
    checks.response_schema_conformance,
    checks.content_type_conformance,
    checks.status_code_conformance,
    checks.response_headers_conformance,
]


@pytest.mark.parametrize("mode", list(GenerationMode))
@pytest.mark.parametrize("operation", [name for name in OPERATIONS if not re.match(LEFT_OUT, name.partition(" ")[2])])
def test_random_requests_get_documented_answers(shared_server: Any, operation: str, mode: GenerationMode):
    """Bounded and the same each time; what is found here becomes a test of its own."""
    labels = {"__name__": "up", "job": "a", "instance": "b"}
    shared_server.write((labels, [(shared_server.clock.now_ms, 1.0)]))
    method, _, path = operation.partition(" ")
    described = SCHEMA[path][method].definition.raw
    if mode is GenerationMode.NEGATIVE and not described.get("parameters") and not described.get("requestBody"):
        return  # there is nothing to get wrong

    # The library's types are generic in what its own users may add; nothing of that is used here.
    strategy: Any = cast(Any, SCHEMA[path][method]).as_strategy(generation_mode=mode)

    @given(case=strategy)
    @settings(max_examples=EXAMPLES, derandomize=True, deadline=None, suppress_health_check=SLOW_IS_FINE)
    def ask(case: Any) -> None:
        # A longer request line is no request yet: HTTP itself refuses it, before any operation (test_http_protocol.py).
        sent = case.as_transport_kwargs(base_url=shared_server.url)
        assume(len(str(Request(method, sent["url"], params=sent.get("params")).prepare().url)) < HEAD_BYTES // 2)
        case.call_and_validate(checks=CHECKED, base_url=shared_server.url, timeout=PATIENCE_SECONDS)

    ask()
