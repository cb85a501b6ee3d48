"""What can be wrong with a file that someone sends; every text says what to do."""

from loadwatch_backend.core.errors import BadRequestError, InvalidError, LimitError, ProblemError, UnavailableError
from loadwatch_backend.core.room import DiskFullError


class UnknownFormatError(
    InvalidError, code="unknown-result-format", title="Not a result of a load tool that can be read"
):
    """No importer knows the content."""


class UnreadableFileError(InvalidError, code="unreadable-result", title="Result file cannot be read"):
    """The content was recognised, and nothing in it can be used."""


class UnknownImporterError(BadRequestError, code="unknown-importer", title="Unknown result format"):
    """A format was named that does not exist."""


class ImportLimitError(LimitError, code="import-limit", title="Result file is too large"):
    """The file would pass one of the limits that keep an import small."""


class ImportStoppedError(UnavailableError, code="import-stopped", title="Import stopped"):
    """The importer's process ended without a result."""


class ImportCancelledError(InvalidError, code="import-cancelled", title="Import cancelled"):
    """Somebody said that the import is not wanted any more."""


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
