"""What statements have in common that differ only in their values, as pt-query-digest names them.

Literals become `?`, lists of them `(?+)`, comments go, white space is one space, letters are small. One pass over the
tokens: linear in the length of the statement, which is cut at `LONGEST_READ` before.

It knows as much of MySQL, MariaDB and PostgreSQL as is needed to tell literals from names, and never fails: what is
no SQL comes out as words and signs.
"""

import functools
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import NamedTuple


class Dialect(Enum):
    """Whose SQL it is: they differ in what quotes and backslashes mean."""

    MYSQL = "mysql"
    """MySQL and MariaDB: "x" is a text, and a backslash keeps a quote within it."""
    POSTGRESQL = "postgresql"
    """PostgreSQL: "x" is a name, $$x$$ a text, a backslash is a letter but in E'...'."""


class Kind(Enum):
    SPACE = "space"
    COMMENT = "comment"
    LITERAL = "literal"
    """A text, a number or a placeholder; also a text whose end is missing."""
    WORD = "word"
    """A name or a keyword, in its quotes where it has some."""
    SIGN = "sign"


class Token(NamedTuple):
    kind: Kind
    text: str


# Quantifiers are possessive or over classes that exclude what follows, so that nothing is ever tried twice; a text
# without an end is taken to the end of the statement: what is cut off may be a secret.
_NUMBER = r"(?:0[xX][0-9a-fA-F]++|0[bB][01]++|(?:\d++(?:\.\d*+)?+|\.\d++)(?:[eE][+-]?\d++)?+)(?![\w$])"
_BODY = r"'(?:[^'\\]++|\\.|'')*+(?:'|\\?\Z)"
_PLAIN = r"'(?:[^']++|'')*+(?:'|\Z)"
_BLOCK = r"/\*(?:[^*]++|\*(?!/))*+(?:\*/|\Z)"
# `/*!40000 … */` and MariaDB's `/*M! … */` are executed: their signs go, the code stays. No server is of version 99.
_EXECUTED = r"/\*M?!(?!99\d{3})"
_MYSQL_GAP = (
    rf"(?P<gap>{_EXECUTED}\d*+ | \*/(?!\*) | (?!{_EXECUTED}){_BLOCK} | \#[^\n]*+ | --(?=[\s\x00-\x1f]|\Z)[^\n]*+)"
)
_MYSQL_LITERAL = rf"""(?P<literal>(?:[xXbBnN]|_[a-zA-Z0-9]++\s*+)?+(?:{_BODY})
    | "(?:[^"\\]++|\\.|"")*+(?:"|\\?\Z) | {_NUMBER} | \?)"""
_MYSQL_WORD = r"(?P<word>`(?:[^`]++|``)*+(?:`|\Z) | @{0,2}[\w$]++)"
_POSTGRESQL_GAP = rf"(?P<gap>{_BLOCK} | --[^\n]*+)"
_POSTGRESQL_LITERAL = rf"""(?P<literal>[eE]{_BODY} | (?:[xXbBnN]|[uU]&)?+(?:{_PLAIN}) | \$\d++ | {_NUMBER} | \?(?![|&])
    | (?P<dollar>\$(?:[^\W\d]\w*+)?+\$))"""
_POSTGRESQL_WORD = r"""(?P<word>"(?:[^"]++|"")*+(?:"|\Z) | [\w$]++)"""


def _compile(*parts: str) -> re.Pattern[str]:
    return re.compile(" | ".join(parts), re.VERBOSE | re.DOTALL)


_TOKENS = {
    Dialect.MYSQL: _compile(r"(?P<space>\s++)", _MYSQL_GAP, _MYSQL_LITERAL, _MYSQL_WORD, r"(?P<sign>.)"),
    Dialect.POSTGRESQL: _compile(
        r"(?P<space>\s++)", _POSTGRESQL_GAP, _POSTGRESQL_LITERAL, _POSTGRESQL_WORD, r"(?P<sign>.)"
    ),
}
_KINDS = {"space": Kind.SPACE, "gap": Kind.COMMENT, "literal": Kind.LITERAL, "word": Kind.WORD, "sign": Kind.SIGN}


def tokens_of(text: str, dialect: Dialect = Dialect.MYSQL) -> Iterator[Token]:
    """The pieces of a statement, in order; joined they are the statement again."""
    pattern, quotes = _TOKENS[dialect], dialect is Dialect.POSTGRESQL
    place, length = 0, len(text)
    while place < length:
        match = pattern.match(text, place)
        assert match is not None  # any character is a sign, if it is nothing else
        end = match.end()
        if quotes and match["dollar"]:
            close = text.find(match["dollar"], end)
            end = length if close < 0 else close + len(match["dollar"])
            yield Token(Kind.LITERAL, text[place:end])
        else:
            yield Token(_KINDS[match.lastgroup or "sign"], text[place:end])
        place = end


def without_values(text: str, dialect: Dialect = Dialect.MYSQL) -> str:
    """The statement with `?` for each literal and one space for each comment; all else as it was."""
    if dialect is Dialect.POSTGRESQL:
        return "".join(_shown(token) for token in tokens_of(text, dialect))
    return _MYSQL_VALUES.sub(_replace, text)


def _shown(token: Token) -> str:
    if token.kind is Kind.LITERAL:
        return "?"
    return " " if token.kind is Kind.COMMENT else token.text


# Words and signs are taken as one run: most of a statement goes by in one step of the expression.
_MYSQL_VALUES = _compile(
    _MYSQL_GAP,
    _MYSQL_LITERAL,
    r"(?P<run>(?:`(?:[^`]++|``)*+(?:`|\Z) | @{0,2}[\w$]++ | .)"
    r"(?:`(?:[^`]++|``)*+(?:`|\Z) | (?![xXbBnN_])[^\W\d][\w$]*+ | [\s,()=<>;!+%|&^~\[\]{}:] | \*(?!/))*+)",
)


def _replace(match: re.Match[str]) -> str:
    group = match.lastgroup
    if group == "literal":
        return "?"
    return " " if group == "gap" else match[0]


LONGEST_READ = 65_536
"""Characters of a statement that are looked at: the rest of a bulk insert says nothing new."""
LONGEST_FINGERPRINT = 4_096
"""Characters of a fingerprint; of statements that agree so far, no more is told apart."""
OTHER = "other"
"""In place of a fingerprint: everything beyond the number that is told apart."""

_LIST = "(?+)"
_LONGEST_KEPT = 4_096
_ROW = r"\(\s*+\?(?:\s*+,\s*+\?)*+\s*+\)"
_AND_SO_ON = re.compile(r",\s*+\.\.\.")  # how MySQL writes `?, ?` and longer lists without parentheses
_ROWS = re.compile(rf"({_ROW})(?:\s*+,\s*+{_ROW})++")
_MYSQLDUMP = re.compile(r"\s*SELECT /\*!40001 SQL_NO_CACHE \*/ \* FROM ", re.IGNORECASE)
_ADMINISTRATOR = re.compile(r"\s*#? ?administrator command: ([\w ]{1,40})")
_CALL = re.compile(r"call ([^\s(]+)")
# Words after which a minus belongs to the number behind it.
_BEFORE_VALUE = frozenset(
    "select where and or not on in between then else when like limit offset by set return values value".split()
)
_NULL_STAYS_AFTER = frozenset(("is", "not"))


def fingerprint(text: str, dialect: Dialect = Dialect.MYSQL) -> str:
    """The statement without its values, such as `select * from users where id in(?+)`.

    Source of the rules: pt-query-digest, "fingerprint". Beyond them: a bulk insert whose rows hold more than literals
    is cut to its first row, and a minus stays where something is taken away.
    """
    return _well_known(text) or _join(*_reduced(text, dialect))[0]


def canonical(text: str, dialect: Dialect = Dialect.MYSQL) -> str:
    """The fingerprint without what writers of the same statement do differently: white space, quotes of names.

    The digest text of a server and the text of a slow log come out alike.
    """
    return _well_known(text) or _join(*_reduced(text, dialect))[1]


def digest_of(text: str, dialect: Dialect = Dialect.MYSQL) -> str:
    """32 hexadecimal digits that stand for the fingerprint, as servers have them for theirs."""
    return hashlib.blake2b(canonical(text, dialect).encode("utf-8", "replace"), digest_size=16).hexdigest()


def first_word(text: str, dialect: Dialect = Dialect.MYSQL) -> str:
    """The statement's kind in small letters, such as `select`; empty where there is none."""
    for token in tokens_of(text[:LONGEST_READ], dialect):
        if token.kind is Kind.WORD:
            return token.text.lower()
    return ""


def _well_known(text: str) -> str | None:
    command = _ADMINISTRATOR.match(text)
    if command is not None:
        return f"administrator command: {command[1].strip()}"
    return "mysqldump" if _MYSQLDUMP.match(text) else None


def _reduced(text: str, dialect: Dialect) -> tuple[str, Dialect]:
    """The statement without values, and of rows of nothing else only the first: a bulk insert is short then."""
    shown = _AND_SO_ON.sub(", ?", without_values(text[:LONGEST_READ], dialect))
    return _ROWS.sub(r"\1", shown), dialect


def _join(reduced: str, dialect: Dialect) -> tuple[str, str]:
    """Fingerprint and canonical text; those of short statements are kept, since applications repeat theirs."""
    return _join_kept(reduced, dialect) if len(reduced) <= _LONGEST_KEPT else _join_anew(reduced, dialect)


def _join_anew(reduced: str, dialect: Dialect) -> tuple[str, str]:
    pieces = _pieces(reduced, dialect)
    names = (
        piece.replace("`", "").replace('"', "") if piece[0] in '`"' else piece
        for piece in pieces
        if piece not in (" ", ";")
    )
    return _shorten("".join(pieces).strip(" ;")), _shorten(" ".join(names))


_join_kept = functools.lru_cache(maxsize=2_048)(_join_anew)


def _shorten(found: str) -> str:
    call = _CALL.match(found)
    if call is not None:
        return call[0][:LONGEST_FINGERPRINT]
    if found.startswith("use "):
        return "use ?"
    return _once(found)[:LONGEST_FINGERPRINT]


def _once(found: str) -> str:
    """Collapse a union of selects that are all the same into one."""
    for union in (" union all ", " union "):
        first, _, rest = found.partition(union)
        if rest and all(part == first for part in rest.split(union)):
            return f"{first} /*repeat{union.rstrip()}*/"
    return found


def _pieces(text: str, dialect: Dialect) -> Sequence[str]:
    """The fingerprint in pieces: words, signs, `?`, `(?+)` and single spaces."""
    space = Token(Kind.SPACE, " ")
    tokens = [space if token.kind is Kind.COMMENT else token for token in tokens_of(text, dialect)]
    ends = _group_ends(tokens)
    out: list[str] = []
    last = ""  # the last piece that is no space
    place, count = 0, len(tokens)
    while place < count:
        kind, piece = tokens[place]
        place += 1
        if kind is Kind.SPACE:
            if out and out[-1] != " ":
                out.append(" ")
            continue
        if kind is Kind.LITERAL:
            _drop_sign(out)
            piece = "?"
        elif kind is Kind.WORD:
            piece = piece.lower()
            if piece == "null" and last not in _NULL_STAYS_AFTER:
                piece = "?"
            elif piece == "asc":
                _trim(out)
                continue
        elif piece == "(" and last in ("in", "values", "value"):
            collapsed, after = _collapse(tokens, ends, place - 1, all_rows=last != "in")
            if collapsed is not None:
                _trim(out)
                out.append(collapsed)
                last, place = ")", after
                continue
        elif piece == "(" and (end := _literals_end(tokens, place - 1, only_dots=True)) is not None:
            out.append(_LIST)
            last, place = ")", end
            continue
        if piece == "?" and last in (",", "offset") and _in_limit(out):
            _trim(out)
            out.pop()  # the comma, or `offset`
            _trim(out)
            last = "?"
            continue
        out.append(piece)
        last = piece
    return out


def _trim(out: list[str]) -> None:
    while out and out[-1] == " ":
        out.pop()


def _drop_sign(out: list[str]) -> None:
    place = len(out) - 1
    if place > 0 and out[place] == " ":
        place -= 1
    if place < 0 or out[place] not in ("-", "+"):
        return
    before = place - 1
    while before >= 0 and out[before] == " ":
        before -= 1
    if before < 0 or out[before] in _BEFORE_VALUE or not (out[before][-1].isalnum() or out[before][-1] in '_`"?)'):
        del out[place:]


def _in_limit(out: Sequence[str]) -> bool:
    """Whether what stands at the end is `limit ?` and a comma or `offset`."""
    words = [piece for piece in out[-6:] if piece != " "]
    return words[-3:-1] == ["limit", "?"]


def _collapse(
    tokens: Sequence[Token], ends: Mapping[int, int], place: int, *, all_rows: bool
) -> tuple[str | None, int]:
    """The piece in place of the list that begins at `place`, and where to go on; None where it stays as it is.

    Args:
        tokens: of the statement.
        ends: behind each parenthesis that closes, by the place of the one that opens.
        place: of an opening parenthesis.
        all_rows: rows that follow after a comma belong to it.
    """
    end = _literals_end(tokens, place)
    if end is None and not all_rows:
        return None, place
    first_end = end if end is not None else ends.get(place, len(tokens))
    after = first_end
    while all_rows:
        following = _next_row(tokens, after)
        if following is None:
            break
        after = ends.get(following, len(tokens))
    if end is not None:
        return _LIST, after
    if after == first_end:
        return None, place  # one row, of more than literals: as any other expression
    return "".join(_row(tokens[place:first_end])), after


def _row(tokens: Sequence[Token]) -> Iterable[str]:
    for kind, piece in tokens:
        if kind is Kind.LITERAL:
            yield "?"
        elif kind is Kind.SPACE:
            yield " "
        else:
            yield "?" if piece.lower() == "null" else piece.lower()


def _literals_end(tokens: Sequence[Token], place: int, *, only_dots: bool = False) -> int | None:
    """Behind the parenthesis that closes a list of literals only; None for any other list.

    Servers write such lists as `(...)`.
    """
    at, depth, dots = place + 1, 1, 0
    while at < len(tokens):
        kind, piece = tokens[at]
        at += 1
        if kind is Kind.SIGN and piece in "()" and not only_dots:
            depth += 1 if piece == "(" else -1
            if depth == 0:
                return at
        elif kind is Kind.SIGN and piece == ")":
            return at if dots == 3 else None
        elif kind is Kind.SIGN and piece == ".":
            dots += 1
            if dots > 3:
                return None
        elif only_dots and kind is not Kind.SPACE:
            return None
        elif kind is Kind.WORD and piece.lower() != "null":
            return None
        elif kind is Kind.SIGN and piece not in ",-+":
            return None
    return None if only_dots else at  # cut off within the list


def _group_ends(tokens: Sequence[Token]) -> dict[int, int]:
    ends: dict[int, int] = {}
    open_at: list[int] = []
    for at, (kind, piece) in enumerate(tokens):
        if kind is not Kind.SIGN:
            continue
        if piece == "(":
            open_at.append(at)
        elif piece == ")" and open_at:
            ends[open_at.pop()] = at + 1
    return ends


def _next_row(tokens: Sequence[Token], place: int) -> int | None:
    comma = False
    for at in range(place, len(tokens)):
        kind, piece = tokens[at]
        if kind is Kind.SPACE:
            continue
        if kind is Kind.SIGN and piece == "," and not comma:
            comma = True
        elif comma and kind is Kind.SIGN and piece == "(":
            return at
        else:
            return None
    return None


# Statements without the values in them: what may leave the agent.

_SPACES = re.compile(r"\s++")
CUT = "..."
"""At the end of a text that was cut, as servers write it."""


def mask(text: str, dialect: Dialect = Dialect.MYSQL, *, longest_bytes: int = 1_024) -> str:
    """The statement with `?` for each literal and without comments; its structure and its names stay.

    A text whose end is missing is masked to the end of the statement. Comments go because applications write what
    they like into them. The result is printable: control characters are spaces.

    Args:
        text: the statement.
        dialect: whose SQL it is.
        longest_bytes: of the result in UTF-8; what is longer ends in `...`.
    """
    shown = _SPACES.sub(" ", without_values(text[:LONGEST_READ], dialect))
    if not shown.isprintable():
        shown = "".join(character if character.isprintable() else " " for character in shown)
    return cut(shown.strip(), longest_bytes)


def cut(text: str, longest_bytes: int) -> str:
    """The text within so many bytes of UTF-8, with `...` at the end where it was longer."""
    encoded = text.encode("utf-8", "replace")
    if len(encoded) <= longest_bytes:
        return text
    return encoded[: longest_bytes - len(CUT)].decode("utf-8", "ignore") + CUT
