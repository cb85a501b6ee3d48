"""What the command said: its beginning and its end, bounded, as a text for people to read later."""

import re

from loadwatch_collectors.runs.facts.redaction import redact_text

HEAD_BYTES = 64 << 10
TAIL_BYTES = 192 << 10
LONGEST_LINE = 2_000
_SEQUENCE = re.compile(
    rb"\x1b\[[0-?]{0,40}[ -/]{0,4}[@-~]"
    rb"|\x1b\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)"
    rb"|\x1b[PX^_][^\x1b]{0,4096}\x1b\\"
    rb"|\x1b[ -/]{0,4}[0-~]"
)
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


class Output:
    """Both streams of a command as they come; the middle is let go."""

    def __init__(self) -> None:
        self.size = 0
        self.binary = 0
        """Bytes of streams that are no text, such as a result: none of them is kept."""
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0
        self._is_text: dict[int, bool] = {}

    def add(self, stream: int, data: bytes) -> None:
        """A piece of what the command wrote to one of its streams; the first decides whether that is text."""
        if not self._is_text.setdefault(stream, b"\0" not in data):
            self.binary += len(data)
            return
        self.size += len(data)
        room = HEAD_BYTES - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        if len(self._tail) > 2 * TAIL_BYTES:
            self._cut()

    def text(self) -> str:
        """The text, without sequences of a terminal and without what looks like a secret; empty where nothing was."""
        self._cut()
        parts = [bytes(self._head)]
        if self._dropped:
            parts.append(b"\n[%d bytes are left out]\n" % self._dropped)
        return clean("\n".join(shown_lines(b"".join([*parts, self._tail]))))

    def _cut(self) -> None:
        most = len(self._tail) - TAIL_BYTES
        if most > 0:
            self._dropped += most
            del self._tail[:most]


def clean(text: str) -> str:
    """Each line without secrets."""
    return "".join(f"{redact_text(line[:LONGEST_LINE])}\n" for line in text.splitlines()).strip("\n")


def shown_lines(data: bytes) -> list[str]:
    """As a terminal would show them at last: a line that was drawn anew and anew is there once."""
    shown = _SEQUENCE.sub(b"", data).decode("utf-8", "replace").replace("\r\n", "\n")
    return [_CONTROL.sub("", line.rstrip("\r").rpartition("\r")[2]) for line in shown.split("\n")]
