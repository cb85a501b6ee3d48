"""Panels that somebody makes or pins on the page: they are kept in one pack of the user's, and nowhere else."""

import contextlib
import copy
import fcntl
import itertools
import os
import shutil
import textwrap
from collections.abc import Collection, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Self

import yaml
from pydantic import AfterValidator, Field, model_validator

from loadwatch_backend.catalogue.packs.grafana import slug
from loadwatch_backend.catalogue.packs.library import FILE, MOST_BYTES, Catalogue, Library, checked
from loadwatch_backend.catalogue.packs.typed_yaml import Document, FaultsError, Loc
from loadwatch_backend.catalogue.signals.model import Unit
from loadwatch_backend.core.errors import InvalidError, LimitError, NotFoundError, ProblemError
from loadwatch_backend.core.schemas import Schema

PINNED = "pinned"
"""Folder and id of the pack, and id of its group."""
MOST_PANELS = 50
_TITLE = {"en": "Pinned", "ja": "固定したパネル"}
_HEAD = "# The page adds panels here, and removes them. Whatever else you write here stays.\n"
_ALWAYS = ("pack", "title", "there_when")
"""Keys without which there is no pack; a file that has no others is removed."""


class PanelInvalidError(InvalidError, code="panel-invalid", title="This is no panel"):
    """What the loader of packs says of it."""


class PanelPinnedError(ProblemError, code="panel-pinned", status=409, title="Pinned already"):
    """A panel of the file draws the same."""


class PanelNotFoundError(NotFoundError, code="panel-not-found", title="No such panel"):
    """The file has no such panel."""


class PanelLimitError(LimitError, code="panel-limit"):
    """There are too many panels, or the file is too large."""


class PackFileError(InvalidError, code="pack-file", title="The file of pinned panels stays as it is"):
    """The file is wrong, or cannot be written."""


def _line(text: str) -> str:
    return _printable(" ".join(text.split()))


def _expression(text: str) -> str:
    return _printable("\n".join(line.rstrip() for line in text.strip().splitlines()))


def _printable(text: str) -> str:
    if any((ord(one) < 32 and one not in "\n\t") or 127 <= ord(one) < 160 for one in text):
        raise ValueError("must not hold control characters")
    return text


Line = Annotated[str, Field(max_length=120), AfterValidator(_line)]
Expression = Annotated[str, Field(min_length=1, max_length=4_000), AfterValidator(_expression)]


class PanelIn(Schema):
    """A panel of expressions, or the signals of a panel that is there."""

    title: Line = Field(default="", description="Needed with expressions; else that of the signals' panel.")
    expressions: list[Expression] = Field(default=[], max_length=10, description="PromQL, each drawn in the panel.")
    unit: Unit = Field(default=Unit.COUNT, description="Of the expressions.")
    legend: Line = Field(default="", description="Names a series of an expression, such as `{{instance}}`.")
    signals: list[Annotated[str, Field(max_length=80)]] = Field(
        default=[], max_length=50, description="Ids of the catalogue, of one panel, in place of expressions."
    )

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if bool(self.expressions) == bool(self.signals):
            raise ValueError("a panel is made of expressions, or of signals")
        if self.expressions and not self.title:
            raise ValueError("a panel of expressions needs a title")
        return self


class PanelMade(Schema):
    """Where the panel stands."""

    id: str = Field(description="Of the panel; `/#panel-ID` opens it.")
    file: str = Field(description="The pack's file on the server.")


class PinnedPanels:
    """Writes and removes panels of the pack `pinned`; safe to use from any thread, and by several servers."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def add(self, given: PanelIn) -> PanelMade:
        """Write a panel at the end of the group.

        Raises:
            PanelInvalidError, PanelPinnedError, PanelLimitError, PackFileError: nothing was changed.
        """
        with self._file() as file:
            catalogue = self._library.reload()
            text, document = self._read(file, catalogue)
            data = copy.deepcopy(dict(document.data))
            groups: list[dict[str, Any]] = data.setdefault("groups", [])
            held = [panel for group in groups for panel in group.get("panels", ())]
            if len(held) >= MOST_PANELS:
                raise PanelLimitError(f"{file} has {MOST_PANELS} panels, the most there are; remove one first.")
            panel = _copied(given, catalogue) if given.signals else _made(given)
            drawn = [(one["expr"], one["unit"]) for one in panel["signals"]]
            for one in held:
                if [(each["expr"], each["unit"]) for each in one.get("signals", ())] == drawn:
                    raise PanelPinnedError(f"The panel {one['id']!r} draws the same already.")
            self._name(panel, catalogue, held)
            place = next((at for at, one in enumerate(groups) if one["id"] == PINNED), len(groups))
            if place == len(groups):
                entry: dict[str, Any] = {"id": PINNED, "title": _TITLE, "order": 0, "optional": False}
                entry["panels"] = [panel]
                groups.append(entry)
                edited = _appended(document, text, ("groups",), entry)
            else:
                groups[place].setdefault("panels", []).append(panel)
                edited = _appended(document, text, ("groups", place, "panels"), panel)
            self._write(file, edited, data, catalogue)
            return PanelMade(id=panel["id"], file=str(file))

    def remove(self, id: str) -> None:
        """Take a panel out, with its group and the file where nothing else is in them.

        Raises:
            PanelNotFoundError, PackFileError: nothing was changed.
        """
        with self._file() as file:
            catalogue = self._library.reload()
            text, document = self._read(file, catalogue)
            data = copy.deepcopy(dict(document.data))
            groups: list[dict[str, Any]] = data.get("groups", [])
            panels = ((g, p, each) for g, one in enumerate(groups) for p, each in enumerate(one.get("panels", ())))
            places = [(g, p) for g, p, each in panels if each["id"] == id]
            if not places:
                raise PanelNotFoundError(f"{file} has no panel {id!r}; panels of other packs stay.")
            group, panel = places[0]
            loc: Loc = ("groups", group, "panels", panel)
            if len(groups[group]["panels"]) == 1:
                loc = loc[:2] if len(groups) > 1 else loc[:1]
            around: Any = data
            for part in loc[:-1]:
                around = around[part]
            del around[loc[-1]]
            if data.keys() <= {*_ALWAYS}:
                file.unlink()
                with contextlib.suppress(OSError):
                    file.parent.rmdir()
                return
            lines = text.split("\n")
            start = document.fault(loc, "", key=True).line - 1
            indent = document.fault(loc[:-1], "").column - 1
            del lines[start : _end(lines, start, indent, "-" if len(loc) == 1 else "\0")]
            self._write(file, "\n".join(lines), data, catalogue)

    @contextmanager
    def _file(self) -> Generator[Path]:
        """The file, for whoever holds the lock of its folder: the last folder, unless another one has it already."""
        folders = self._library.folders
        places = [one for one in folders if os.path.exists(one / PINNED / FILE)]
        folder = (places or folders)[-1]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock = os.open(folder, os.O_RDONLY)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX)
                yield Path(os.path.realpath(folder / PINNED / FILE))
            finally:
                os.close(lock)
        except OSError as error:
            raise PackFileError(
                f"{folder / PINNED / FILE} cannot be written: {error.strerror}. Let the server's user write in "
                f"{folder}, or name a folder where it may last in LOADWATCH_PACKS."
            ) from error
        self._library.reload()

    def _read(self, file: Path, catalogue: Catalogue) -> tuple[str, Document]:
        try:
            content = file.read_bytes()
        except FileNotFoundError:
            content = _dump({"pack": PINNED, "title": _TITLE, "there_when": "up"}).encode()
        try:
            document = Document.read(content, str(file))
            checked(document, catalogue.packs)
        except FaultsError as error:
            raise PackFileError(f"{'; '.join(map(str, error.faults))}. Nothing was changed: mend it first.") from error
        return content.decode(), document

    def _name(self, panel: dict[str, Any], catalogue: Catalogue, held: Sequence[dict[str, Any]]) -> None:
        """Give ids that nothing else has; the file may have some that the catalogue does not have yet."""
        panels = {one.id for group in catalogue.groups for one in group.panels} | {one["id"] for one in held}
        signals = {one.id for one in catalogue.signals}
        signals |= {one["id"] for each in held for one in each.get("signals", ())}
        panel["id"] = _free(f"{PINNED}-{panel['id']}", panels)
        for one in panel["signals"]:
            one["id"] = _free(f"{PINNED}_{one['id']}", signals)
            signals.add(one["id"])

    def _write(self, file: Path, text: str, data: dict[str, Any], catalogue: Catalogue) -> None:
        """Put the new file in the old one's place, if it is a pack.

        Where lines could not simply be put in or taken out (lists in brackets, say), the file is written anew.
        """
        try:
            document = Document.read(text.encode(), str(file))
        except FaultsError:
            document = None
        if document is None or document.data != data:
            text = _HEAD + _dump(data)
            document = Document.read(text.encode(), str(file))
        try:
            checked(document, catalogue.packs)
        except FaultsError as error:
            raise PanelInvalidError("; ".join(one.text for one in error.faults)) from error
        if len(text.encode()) > MOST_BYTES:
            raise PanelLimitError(f"{file} would have more than {MOST_BYTES // 1024} KiB; remove a panel first.")
        file.parent.mkdir(exist_ok=True)
        new = file.with_name(f"{FILE}.new")
        with new.open("w", encoding="utf-8", newline="") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        if file.exists():
            shutil.copymode(file, new)
        new.replace(file)


def _made(given: PanelIn) -> dict[str, Any]:
    alone = len(given.expressions) == 1
    signals = [
        {
            "id": slug(given.title, 40).replace("-", "_"),
            "title": given.title if alone else one,
            "unit": given.unit.value,
            "expr": one,
            "legend": given.legend,
        }
        for one in given.expressions
    ]
    return {"id": slug(given.title, 40), "title": given.title, "signals": signals}


def _copied(given: PanelIn, catalogue: Catalogue) -> dict[str, Any]:
    found: dict[str, dict[str, Any]] = {}
    for document in catalogue.documents.values():
        data = document.filled()
        late: dict[str, Any] | None = data.get("late")
        for group in data.get("groups", ()):
            for panel in group.get("panels", ()):
                for one in panel.get("signals", ()):
                    if one["id"] in given.signals:
                        found[one["id"]] = ({"late": dict(late)} if late else {}) | one
    unknown = [id for id in given.signals if id not in found]
    if unknown:
        raise PanelInvalidError(f"There is no signal {unknown[0]!r}; GET /api/signals lists all.")
    id = catalogue.panel_of_signal[given.signals[0]]
    panel = next(one for group in catalogue.groups for one in group.panels if one.id == id)
    form = {} if panel.form == "lines" else {"form": panel.form}
    split = {} if panel.split is None else {"split": panel.split}
    en, ja = panel.title.en, panel.title.ja
    title = given.title or (en if en == ja else {"en": en, "ja": ja})
    return {"id": id, "title": title, **form, **split, "signals": [found[one] for one in dict.fromkeys(given.signals)]}


def _free(id: str, taken: Collection[str]) -> str:
    names = itertools.chain([id[:70]], (f"{id[:70]}-{number}" for number in itertools.count(2)))
    return next(one for one in names if one not in taken)


def _appended(document: Document, text: str, loc: Loc, entry: dict[str, Any]) -> str:
    """The text with an entry appended to the list at `loc`, which must be in block style."""
    lines, start = text.split("\n"), document.fault(loc, "")
    indent = start.column - 1
    end = _end(lines, start.line - 1, indent, "-")
    lines[end:end] = textwrap.indent(_dump([entry]), " " * indent).rstrip("\n").split("\n")
    return "\n".join(lines)


def _end(lines: Sequence[str], start: int, indent: int, more: str) -> int:
    """The line behind a block, whose lines stand deeper or begin with `more`; comments at its end are no part of it."""
    end = start + 1
    for place in range(start + 1, len(lines)):
        line = lines[place].lstrip(" ")
        if not line.strip() or line.startswith("#"):
            continue
        depth = len(lines[place]) - len(line)
        if depth < indent or (depth == indent and not line.startswith(more)):
            break
        end = place + 1
    return end


class _Dumper(yaml.SafeDumper):
    """Writes a text of several lines as such."""


def _written(_: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return yaml.ScalarNode("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _written)


def _dump(data: Any) -> str:
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100_000)
