"""What is wrong with a request to Alertmanager's API."""

from loadwatch_backend.core.errors import BadRequestError, MethodNotAllowedError


class AlertmanagerParameterError(BadRequestError, code="alertmanager-parameter"):
    """A parameter or a field of the body cannot be read."""


class AlertsByRulesError(MethodNotAllowedError, code="alerts-by-rules"):
    """Somebody wants to post alerts; here rules make them."""
