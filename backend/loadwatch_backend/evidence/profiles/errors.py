"""What can be wrong with a profile that someone sends; every text says what to do."""

from loadwatch_backend.kit.errors import InvalidError, LimitError


class UnknownProfileError(InvalidError):
    """No reader knows the content."""

    code = "unknown-profile-format"
    title = "Not a profile that can be read"


class UnreadableProfileError(InvalidError):
    """The content was recognised, and it contradicts itself or is cut off."""

    code = "unreadable-profile"
    title = "Profile cannot be read"


class ProfileLimitError(LimitError):
    """The profile would pass one of the limits that keep its reading small."""

    code = "profile-limit"
    title = "Profile is too large"


class ProfilesDifferError(InvalidError):
    """Two profiles measure different things, and cannot be added or subtracted."""

    code = "profiles-differ"
    title = "Profiles of different kinds"
