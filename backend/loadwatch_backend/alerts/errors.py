"""What can be wrong with a request for an alert."""

from loadwatch_backend.kit.errors import InvalidError, NotFoundError, UnavailableError


class AlertNotFoundError(NotFoundError):
    """There is no alert with this id."""

    code = "alert-not-found"


class AlertOverError(InvalidError):
    """The alert has ended already."""

    code = "alert-over"
    title = "The alert is over"


class AlertHoldsError(InvalidError):
    """The alert's data are there, so it cannot be closed."""

    code = "alert-holds"
    title = "The alert has data"


class AlertMatcherError(InvalidError):
    """A matcher cannot be read."""

    code = "alert-matcher"
    title = "Not a matcher"


class NobodyEvaluatesError(UnavailableError):
    """No server on this database evaluates rules at present."""

    code = "nobody-evaluates"
    title = "Rules are not evaluated"
