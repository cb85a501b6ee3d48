"""What can be wrong with a request for an alert."""

from loadwatch_backend.core.errors import InvalidError, NotFoundError, UnavailableError


class AlertNotFoundError(NotFoundError, code="alert-not-found"):
    """There is no alert with this id."""


class AlertOverError(InvalidError, code="alert-over", title="The alert is over"):
    """The alert has ended already."""


class AlertHoldsError(InvalidError, code="alert-holds", title="The alert has data"):
    """The alert's data are there, so it cannot be closed."""


class AlertMatcherError(InvalidError, code="alert-matcher", title="Not a matcher"):
    """A matcher cannot be read."""


class NobodyEvaluatesError(UnavailableError, code="nobody-evaluates", title="Rules are not evaluated"):
    """No server on this database evaluates rules at present."""
