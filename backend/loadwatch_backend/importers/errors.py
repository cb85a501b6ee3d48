"""What can be wrong with a file that someone sends; every text says what to do."""

from loadwatch_backend.kit.errors import BadRequestError, InvalidError, LimitError, ProblemError, UnavailableError
from loadwatch_backend.kit.room import DiskFullError


class UnknownFormatError(InvalidError):
    """No importer knows the content."""

    code = "unknown-result-format"
    title = "Not a result of a load tool that can be read"


class UnreadableFileError(InvalidError):
    """The content was recognised, and nothing in it can be used."""

    code = "unreadable-result"
    title = "Result file cannot be read"


class UnknownImporterError(BadRequestError):
    """A format was named that does not exist."""

    code = "unknown-importer"
    title = "Unknown result format"


class ImportLimitError(LimitError):
    """The file would pass one of the limits that keep an import small."""

    code = "import-limit"
    title = "Result file is too large"


class ImportStoppedError(UnavailableError):
    """The importer's process ended without a result."""

    code = "import-stopped"
    title = "Import stopped"


class ImportCancelledError(InvalidError):
    """Somebody said that the import is not wanted any more."""

    code = "import-cancelled"
    title = "Import cancelled"


ERRORS: dict[str, type[ProblemError]] = {
    error.code: error
    for error in (
        UnknownFormatError,
        UnreadableFileError,
        UnknownImporterError,
        ImportLimitError,
        ImportStoppedError,
        DiskFullError,
    )
}
"""By code: how an error crosses from the importer's process."""
