"""A path with placeholders for what varies by its form alone: the same path has the same shape on any machine, any day.

    /users/42?tab=1                             /users/:id
    /image/42.jpg                               /image/:id.jpg
    /orders/3f0c9a52-7d4e-4f7b-9e0e-0d2f1a6b7c8d /orders/:uuid
    /assets/index-3f2a9c1b.js                   /assets/index-:hash.js
    /@alice, /search/%E3%81%82                  /@:slug, /search/:slug

A name such as `/login` or `/posts/hello-world` stays: that a slug varies is seen from many paths only (`routes`).
Whatever is in a path, a shape is printable ASCII and at most 600 characters long.
"""

import re

NO_PATH = "-"
"""Of a request whose path the server could not read, and of one that names no path (CONNECT)."""
ID, UUID, DATE, HASH, SLUG = ":id", ":uuid", ":date", ":hash", ":slug"
REST = "*"
"""The segments beyond the deepest that is told apart."""
DEEPEST = 12
LONGEST_READ = 4_096
"""Characters of a path that are looked at."""
_LONGEST_LITERAL = 48
_LONGEST_NAME = 200
"""Characters of a segment that may be a file's name: some of the expressions take the square of the length."""

_AUTHORITY = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*")
_END = re.compile(r"[?#]")
_NAME = re.compile(r"[A-Za-z][A-Za-z_~-]*|[vV][0-9]{1,3}")
_NUMBER = re.compile(r"[+-]?[0-9]+(?:[.,][+-]?[0-9]+)*")
_UUID = re.compile(r"\{?[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\}?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9:.]+Z?)?")
_HEX = re.compile(r"(?:0x)?(?:(?=[a-f]*[0-9])[0-9a-f]{8,}|(?=[A-F]*[0-9])[0-9A-F]{8,}|[a-f]{16,})")
_LIKE_HEX = re.compile(r":id|[0-9a-f]{7,}")
_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,}={0,2}")
_ENCODED = re.compile(r"[A-Za-z0-9_+-]{22,}={1,2}")
_SHORT_TOKEN = 8
_RUN = re.compile(r"[vV][0-9]{1,2}(?![0-9])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
"""What a reader takes in at once: a word of `getUserV2`, a number, a version."""
_YEAR = re.compile(r"(?<![0-9])(?:19|20)[0-9]{2}(?![0-9])")
_PARTS = re.compile(r"[-_]")
_CAPITALS = re.compile(r"(?=.*[0-9])[0-9A-Z]{20,}")
_NUMBERED = re.compile(r"([A-Za-z]+[-_])[0-9]+")
_NUMBER_FIRST = re.compile(r"[0-9]+[-_].*[A-Za-z].*")
# A colon at the beginning is for placeholders.
_LITERAL = re.compile(r"(?!:)[A-Za-z0-9._~!$&'()*+,=:@-]+")
# What is in the ending of a file, by whether numbers in its name tell versions (assets) or things (the others).
_ASSETS = "js mjs css map woff woff2 ttf otf eot wasm"
_FILES = "html htm php json xml txt csv pdf png jpg jpeg gif svg webp avif ico bmp mp3 mp4 webm ts m3u8 zip gz"
_ENDING = re.compile(rf"(.+)\.(?:({_ASSETS.replace(' ', '|')})|{_FILES.replace(' ', '|')})")
_BUILD_HASH = re.compile(r"(.*[-._~])?([A-Za-z0-9_]{8,})((?:\.(?:min|chunk|bundle|module))*)")
_WORD = re.compile(r"[A-Z]?[a-z_]+|[A-Z_]+")


def shape_of(path: str) -> str:
    """The shape of a path as a request names it; a whole URL's is that of its path."""
    path = path[:LONGEST_READ]
    if not path.startswith("/"):
        if (found := _AUTHORITY.match(path)) is None:
            return "*" if path == "*" else NO_PATH
        path = path[found.end() :]
    if (end := _END.search(path)) is not None:
        path = path[: end.start()]
    segments = path.split("/")
    shaped = [shape_of_segment(segment) for segment in segments if segment]
    if not shaped:
        return "/"
    if len(shaped) > DEEPEST:
        return "/" + "/".join((*shaped[:DEEPEST], REST))
    return "/" + "/".join(shaped) + ("/" if not segments[-1] else "")


def shape_of_segment(segment: str) -> str:
    """The placeholder of what varies by its form, or the segment as it is."""
    if _NAME.fullmatch(segment) and len(segment) <= _LONGEST_LITERAL and not _is_scrambled(segment):
        return segment
    if ";" in segment:
        # Parameters of a segment, such as ;jsessionid=…, belong to the request and not to the place.
        segment = segment.partition(";")[0]
    if (placeholder := _placeholder(segment)) is not None:
        return placeholder
    if len(segment) > _LONGEST_NAME:
        return SLUG
    if found := _ENDING.fullmatch(segment):
        stem, ending = found[1], segment[len(found[1]) :]
        return (_asset(stem) if found[2] else _placeholder(stem) or _literal(stem)) + ending
    return _literal(segment)


def slug_of(literal: str) -> str:
    """The placeholder of a literal that turned out to be one of many: the ending of a file stays."""
    found = _ENDING.fullmatch(literal)
    return SLUG if found is None else SLUG + literal[len(found[1]) :]


def is_like_hash(literal: str) -> bool:
    """Whether it may be a hash that has by chance no digit, or no letter: what stands beside many hashes may be one."""
    if _LIKE_HEX.fullmatch(literal):
        return True
    if not _TOKEN.fullmatch(literal) or _has_words(literal):
        return False
    return sum(character.isupper() for character in literal) >= 4 or any(map(str.isdigit, literal))


def _placeholder(text: str) -> str | None:
    if _NUMBER.fullmatch(text):
        return ID
    if _DATE.fullmatch(text):
        return DATE
    if _UUID.fullmatch(text):
        return UUID
    if _HEX.fullmatch(text) or _is_token(text):
        return HASH
    if (numbered := _NUMBERED.fullmatch(text)) and len(text) <= _LONGEST_LITERAL:
        return numbered[1] + ID
    if text.startswith("@") and len(text) > 1:
        return "@" + SLUG
    return SLUG if "@" in text or _NUMBER_FIRST.fullmatch(text) else None


def _is_token(text: str) -> bool:
    """Random text, as base64, nanoid, ULID and the like make it: not words with hyphens between them."""
    if _CAPITALS.fullmatch(text) or _ENCODED.fullmatch(text):
        return True
    if any(map(_is_scrambled, _PARTS.split(text))):
        return True
    if not _TOKEN.fullmatch(text) or _has_words(text):
        return False
    digits = sum(character.isdigit() for character in text)
    mixed = any(character.isupper() for character in text) and any(character.islower() for character in text)
    return digits >= 2 and (mixed or (len(text) >= 20 and digits >= 4))


def _is_scrambled(text: str) -> bool:
    """Whether words and numbers change too often for a name: `AbC123xyz` is a secret, `OAuth2Callback` is none."""
    if len(text) < _SHORT_TOKEN or not (text.isascii() and text.isalnum()):
        return False
    runs = len(_RUN.findall(text))
    digits = sum(map(str.isdigit, _YEAR.sub("", text)))
    if text.lower() == text or text.upper() == text:
        return digits > 0 and runs >= 5 and len(text) <= 2 * runs
    if digits >= 3 and runs >= 3 and len(text) <= 3 * runs:
        return True
    return runs >= 4 and (len(text) <= 2 * runs or (digits > 0 and len(text) < 2.5 * runs))


def _has_words(text: str) -> bool:
    return text.count("-") + text.count("_") > len(text) // 8


def _asset(stem: str) -> str:
    """The name of a built file: its hash is a placeholder, numbers in it are versions."""
    found = _BUILD_HASH.fullmatch(stem)
    if found and not _WORD.fullmatch(found[2]) and (_HEX.fullmatch(found[2]) or found[1]):
        return _literal(found[1] or "", empty="") + HASH + found[3]
    return _literal(stem)


def _literal(text: str, empty: str = SLUG) -> str:
    if not text:
        return empty
    return text if len(text) <= _LONGEST_LITERAL and _LITERAL.fullmatch(text) else SLUG
