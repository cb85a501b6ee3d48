"""What runs can refuse, and why."""

from loadwatch_backend.core.errors import InvalidError, NotFoundError, ProblemError, UnavailableError


class ConflictError(ProblemError, code="conflict", status=409, title="Conflict"):
    """The request was right for what was there before."""


class RunNotFoundError(NotFoundError, code="run-not-found"):
    """There is no run with this id."""


class ImportNotFoundError(NotFoundError, code="import-not-found"):
    """There is no import with this id, or none any more."""


class ShareNotFoundError(NotFoundError, code="share-not-found"):
    """There is no such link, or it has expired."""


class FindingNotFoundError(NotFoundError, code="finding-not-found"):
    """The run has no such finding."""


class NoResultError(NotFoundError, code="no-result", title="No result"):
    """The run has no result, or its result has no single requests."""


class RunRuleError(InvalidError, code="run-rule"):
    """A field of a run is against a rule."""


class FutureResultError(InvalidError, code="result-in-the-future", title="Result from the future"):
    """The requests of a file lie in the future, where neither samples nor a configuration can be."""


class ArchiveError(InvalidError, code="bad-archive", title="Not an archive of a run"):
    """The archive cannot be taken in; nothing of it was."""


class ReviewConflictError(ConflictError, code="review-conflict", title="Somebody else wrote"):
    """Somebody else wrote since the version that was read; `other` is what is there now."""


class RunExistsError(ConflictError, code="run-exists", title="The run exists"):
    """A run of this id is here already."""


class RunBusyError(ConflictError, code="run-busy", title="The run is being imported"):
    """An import into this run is under way."""


class ImportQueueError(UnavailableError, code="import-queue-full", title="Too many imports"):
    """Too many imports wait."""
