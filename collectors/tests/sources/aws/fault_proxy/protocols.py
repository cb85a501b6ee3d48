"""Answers on the wire in AWS's protocols: documents as AWS describes them, and errors as each service words them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, cast
from xml.sax.saxutils import escape

from moto.core import serialize as moto_serialize
from moto.core import utils as moto_utils

_serialize: Any = moto_serialize
_utils: Any = moto_utils


@dataclass(frozen=True, kw_only=True)
class Answer:
    """An HTTP answer."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes = b""


@cache
def _service_model(service: str) -> Any:
    return _utils.get_service_model(service)


def encode_document(service: str, operation: str, protocol: str, document: Mapping[str, Any]) -> Answer:
    """A successful answer with the members of the operation's output shape, such as `{"DBInstances": [...]}`."""
    model = _service_model(service).operation_model(operation)
    answer: Any = _serialize.get_serializer_class(service, protocol)(model).serialize(document)
    body: Any = answer["body"]
    data = body.encode() if isinstance(body, str) else bytes(body)
    headers = {str(name): str(value) for name, value in cast("Mapping[Any, Any]", answer["headers"]).items()}
    headers = {name: value for name, value in headers.items() if name.lower() not in ("content-length", "date")}
    return Answer(status=int(answer["status_code"]), headers=headers, body=data)


def encode_error(protocol: str, code: str, message: str, status: int = 400) -> Answer:
    """An error as the protocol writes it: XML of the query protocols, XML of EC2, JSON."""
    if protocol == "ec2":
        body = (
            f'<?xml version="1.0" encoding="UTF-8"?>\n<Response><Errors><Error><Code>{code}</Code>'
            f"<Message>{escape(message)}</Message></Error></Errors><RequestID>{_REQUEST_ID}</RequestID></Response>"
        )
        return Answer(status=status, headers={"Content-Type": "text/xml;charset=UTF-8"}, body=body.encode())
    if protocol == "query":
        body = (
            f"<ErrorResponse><Error><Type>Sender</Type><Code>{code}</Code><Message>{escape(message)}</Message></Error>"
            f"<RequestId>{_REQUEST_ID}</RequestId></ErrorResponse>"
        )
        headers = {"Content-Type": "text/xml", "x-amzn-RequestId": _REQUEST_ID}
        return Answer(status=status, headers=headers, body=body.encode())
    headers = {"Content-Type": "application/x-amz-json-1.0", "x-amzn-RequestId": _REQUEST_ID, "x-amzn-ErrorType": code}
    return Answer(
        status=status, headers=headers, body=json.dumps({"__type": f"com.amazon#{code}", "message": message}).encode()
    )


_REQUEST_ID = "5f0c1d3e-0000-4000-8000-000000000000"
