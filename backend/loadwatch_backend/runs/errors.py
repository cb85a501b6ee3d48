"""What runs can refuse, and why.

ProblemError
├── NotFoundError
│   ├── RunNotFoundError         404
│   ├── ImportNotFoundError      404
│   ├── ShareNotFoundError       404
│   ├── FindingNotFoundError     404
│   └── NoResultError            404, the run has no imported result, or no records
├── InvalidError
│   ├── RunRuleError             422, a field is against a rule
│   ├── RunFilterError           422, the list's filter cannot be read
│   └── ArchiveError             422, the archive is not one of ours, or damaged
├── ConflictError                409
│   ├── ReviewConflictError      somebody else wrote since
│   ├── RunExistsError           an archive's run is here already
│   └── RunBusyError             an import into this run is under way
├── PayloadTooLargeError
│   └── kit.uploads.UploadTooLargeError  413
├── BadRequestError
│   └── kit.uploads.UploadBrokenError    400, empty, or broken off
└── UnavailableError
    ├── ImportQueueError         503, too many imports wait
    └── kit.room.DiskFullError   503, the disk has no room for the file
"""

from loadwatch_backend.kit.errors import InvalidError, NotFoundError, ProblemError, UnavailableError


class ConflictError(ProblemError):
    """The request was right for what was there before."""

    status = 409
    code = "conflict"
    title = "Conflict"


class RunNotFoundError(NotFoundError):
    """There is no run with this id."""

    code = "run-not-found"


class ImportNotFoundError(NotFoundError):
    """There is no import with this id, or none any more."""

    code = "import-not-found"


class ShareNotFoundError(NotFoundError):
    """There is no such link, or it has expired."""

    code = "share-not-found"


class FindingNotFoundError(NotFoundError):
    """The run has no such finding."""

    code = "finding-not-found"


class NoResultError(NotFoundError):
    """The run has no result, or its result has no single requests."""

    code = "no-result"
    title = "No result"


class RunRuleError(InvalidError):
    """A field of a run is against a rule."""

    code = "run-rule"


class FutureResultError(InvalidError):
    """The requests of a file lie in the future, where neither samples nor a configuration can be."""

    code = "result-in-the-future"
    title = "Result from the future"


class RunFilterError(InvalidError):
    """A filter of the list cannot be read; `column` says at which character."""

    code = "run-filter"


class ArchiveError(InvalidError):
    """The archive cannot be taken in; nothing of it was."""

    code = "bad-archive"
    title = "Not an archive of a run"


class ReviewConflictError(ConflictError):
    """Somebody else wrote since the version that was read; `other` is what is there now."""

    code = "review-conflict"
    title = "Somebody else wrote"


class RunExistsError(ConflictError):
    """A run of this id is here already."""

    code = "run-exists"
    title = "The run exists"


class RunBusyError(ConflictError):
    """An import into this run is under way."""

    code = "run-busy"
    title = "The run is being imported"


class ImportQueueError(UnavailableError):
    """Too many imports wait."""

    code = "import-queue-full"
    title = "Too many imports"
