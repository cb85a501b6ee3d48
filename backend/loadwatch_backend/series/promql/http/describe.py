"""How the endpoints of Prometheus' API are described: parameters in the address or in a form, and errors."""

from collections.abc import Sequence
from typing import Any

DESCRIPTIONS = {
    "query": "PromQL expression",
    "time": "Evaluation time: seconds since the epoch or RFC 3339; now by default",
    "start": "First time: seconds since the epoch or RFC 3339",
    "end": "Last time: seconds since the epoch or RFC 3339",
    "step": "Seconds or a duration such as 15s",
    "limit": "Number of results; 0 means all",
    "lookback_delta": "How long a sample counts as the present value; 5m by default",
    "match[]": "Series selector; may be repeated",
    "metric": "Name of one metric",
    "limit_per_metric": "Number of entries of each metric",
}


def documented(*names: str, required: Sequence[str] = ()) -> dict[str, Any]:
    """OpenAPI for parameters that may come in the address or in a form."""
    return {
        "parameters": [
            {
                "name": name,
                "in": "query",
                "required": name in required,
                "description": DESCRIPTIONS[name],
                "schema": {"type": "array", "items": {"type": "string"}} if name == "match[]" else {"type": "string"},
            }
            for name in names
        ]
    }


def form_of(*names: str, required: Sequence[str] = ()) -> dict[str, Any]:
    """OpenAPI for a form of such parameters."""
    properties = {
        name: {
            "description": DESCRIPTIONS[name],
            **({"type": "array", "items": {"type": "string"}} if name == "match[]" else {"type": "string"}),
        }
        for name in names
    }
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {
        "requestBody": {
            "required": bool(required),
            "content": {"application/x-www-form-urlencoded": {"schema": schema}},
        }
    }


_ERROR = {"content": {"application/json": {"schema": {"type": "object", "required": ["status", "errorType", "error"]}}}}
RESPONSES: dict[int | str, dict[str, Any]] = {
    400: {"description": "A parameter or the expression is not valid", **_ERROR},
    413: {"description": "The form is too large"},
    422: {"description": "The expression cannot be evaluated, or is too large", **_ERROR},
    503: {"description": "The query took too long, or the store is not available", **_ERROR},
}
