"""What files of a run can refuse, and why.

ProblemError
├── NotFoundError
│   └── EvidenceNotFoundError            404
├── LimitError
│   └── EvidenceLimitError               422, the run has as many files, or bytes of them, as it may
├── PayloadTooLargeError
│   └── kit.uploads.UploadTooLargeError  413
├── BadRequestError
│   └── kit.uploads.UploadBrokenError    400, empty, or broken off
└── UnavailableError
    └── kit.room.DiskFullError           503
"""

from loadwatch_backend.kit.errors import LimitError, NotFoundError


class EvidenceNotFoundError(NotFoundError):
    """There is no file with this id, or its content is gone."""

    code = "evidence-not-found"


class EvidenceLimitError(LimitError):
    """A run has as many files, or bytes of them, as it may."""

    code = "evidence-limit"
