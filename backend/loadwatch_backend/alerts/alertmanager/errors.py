"""What is wrong with a request to Alertmanager's API."""

from loadwatch_backend.kit.errors import BadRequestError, MethodNotAllowedError


class AlertmanagerParameterError(BadRequestError):
    """A parameter or a field of the body cannot be read."""

    code = "alertmanager-parameter"


class AlertsByRulesError(MethodNotAllowedError):
    """Somebody wants to post alerts; here rules make them."""

    code = "alerts-by-rules"
