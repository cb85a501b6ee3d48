"""Runs the command in a process group of its own, passes its output on, and ends it when asked to.

The command sees a terminal where we have one: a pseudo terminal stands between the two, so that the status line can be
kept apart from what it draws. Without a terminal its output goes where ours goes, through us where it is kept; what
goes into a file goes there without a detour, since that is often a result of any size.
"""

import ctypes
import fcntl
import os
import pty
import selectors
import signal
import stat
import struct
import subprocess
import termios
import time
import tty
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import IO, Any, NamedTuple

from loadwatch_collectors.runs.screen.terminal import StatusLine
from loadwatch_collectors.umask import inherited_umask

NOT_FOUND, NOT_EXECUTABLE = 127, 126
SIGNAL_BASE = 128
_TICK_SECONDS = 0.5
_DRAIN_SECONDS = 0.2
"""Silence after which a dead command's output is complete; background children may hold it open."""

_DRAIN_LIMIT_SECONDS = 5.0

_CHUNK = 65536
_FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_KILLING = (signal.SIGINT, signal.SIGTERM)
_PR_SET_PDEATHSIG = 1


class Streams(NamedTuple):
    """How the command's streams are connected.

    Attributes:
        capture: file that gets a copy of standard output.
        pass_output: whether captured output is shown as well.
        keep_apart: a status line is drawn, so output to the terminal goes through us.
        keep: gets a copy of the output, with the number of its stream; called in the main thread.
        keep_files: also of what goes into a file.
    """

    capture: Path | None
    pass_output: bool
    keep_apart: bool
    keep: Callable[[int, bytes], None] | None = None
    keep_files: bool = False


class Ending(NamedTuple):
    """How the command ended.

    Attributes:
        status: its exit status, 128 + N when signal N ended it.
        killed_by: name of the signal that ended it.
        stopped_by: name of the first signal that we passed on to it.
        problem: why it could not be started.
    """

    status: int
    problem: str = ""
    killed_by: str = ""
    stopped_by: str = ""


@dataclass(slots=True)
class _Source:
    descriptor: int
    show: int | None
    capture: IO[bytes] | None = None
    keep: Callable[[int, bytes], None] | None = None


@dataclass(slots=True)
class _Wiring:
    stdin: int | None = None
    stdout: int | None = None
    stderr: int | None = None
    controlling: int | None = None
    """The command's descriptor that is its controlling terminal."""
    keyboard: int | None = None
    """The master that gets what is typed."""
    masters: list[int] = field(default_factory=list[int])
    sources: list[_Source] = field(default_factory=list[_Source])
    ours: list[int] = field(default_factory=list[int])
    """Ends that the command inherits and we close once it runs."""


class Supervisor:
    """One command, from start to end. All of it in the main thread."""

    def __init__(self, command: Sequence[str], environment: dict[str, str], streams: Streams) -> None:
        self._command = command
        self._environment = environment
        self._streams = streams
        self._signals: list[int] = []
        self._keys: Any = None
        self._wiring = _Wiring()
        self._process: subprocess.Popen[bytes] | None = None
        self._handlers: dict[int, Any] = {}

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    def start(self) -> Ending | None:
        """Start the command; return how it ended if it could not start. No other thread may run yet."""
        self._wiring = wiring = _wire(self._streams)
        # From here on a signal is the command's, even before it runs.
        # Those that we ignore, as under nohup, are left ignored.
        wanted = [number for number in _FORWARDED if signal.getsignal(number) != signal.SIG_IGN]
        self._handlers = {number: signal.signal(number, self._note) for number in (*wanted, signal.SIGWINCH)}
        library = ctypes.CDLL(None)
        parent = os.getpid()

        def prepare() -> None:
            # When we are killed there is nobody left who could end the load.
            library.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
            if os.getppid() != parent:
                os.kill(os.getpid(), signal.SIGTERM)
            if wiring.controlling is not None:
                fcntl.ioctl(wiring.controlling, termios.TIOCSCTTY, 0)

        try:
            self._process = subprocess.Popen(
                self._command,
                env=self._environment,
                stdin=wiring.stdin,
                stdout=wiring.stdout,
                stderr=wiring.stderr,
                start_new_session=wiring.controlling is not None,
                process_group=None if wiring.controlling is not None else 0,
                umask=inherited_umask(),
                preexec_fn=prepare,
            )
        except FileNotFoundError:
            self._restore_signals()
            return Ending(status=NOT_FOUND, problem=f"{self._command[0]}: there is no such program")
        except OSError as error:
            self._restore_signals()
            return Ending(status=NOT_EXECUTABLE, problem=f"{self._command[0]} cannot be run: {error.strerror}")
        finally:
            for descriptor in wiring.ours:
                os.close(descriptor)
        return None

    def run(self, line: StatusLine, tick: Callable[[], None]) -> Ending:
        """Pass output and signals on until the command has ended; `tick` is called about twice a second."""
        assert self._process is not None
        read_end, write_end = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._handlers[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, signal.SIG_IGN)
        old_wakeup = signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
        settings = self._open_keyboard()
        try:
            return self._loop(line, tick, read_end)
        finally:
            if settings is not None:
                termios.tcsetattr(0, termios.TCSADRAIN, settings)
            signal.set_wakeup_fd(old_wakeup)
            self._restore_signals()
            os.close(read_end)
            os.close(write_end)
            for source in self._wiring.sources:
                if source.capture is not None:
                    source.capture.close()
            for descriptor in {*self._wiring.masters, *(source.descriptor for source in self._wiring.sources)}:
                os.close(descriptor)

    def _restore_signals(self) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def _note(self, number: int, _frame: FrameType | None) -> None:
        self._signals.append(number)

    def _open_keyboard(self) -> Any:
        """Put the keyboard into cbreak mode, which keeps signal keys; return the settings to restore."""
        if self._wiring.keyboard is None:
            return None
        settings = termios.tcgetattr(0)
        tty.setcbreak(0, termios.TCSADRAIN)
        return settings

    def _loop(self, line: StatusLine, tick: Callable[[], None], wakeup: int) -> Ending:
        process = self._process
        assert process is not None
        stopped: list[int] = []
        next_tick = time.monotonic()
        with selectors.DefaultSelector() as selector:
            selector.register(wakeup, selectors.EVENT_READ, None)
            ended = os.pidfd_open(process.pid)
            try:
                selector.register(ended, selectors.EVENT_READ, None)
                for source in self._wiring.sources:
                    selector.register(source.descriptor, selectors.EVENT_READ, source)
                if self._wiring.keyboard is not None:
                    selector.register(0, selectors.EVENT_READ, self._wiring.keyboard)
                while process.poll() is None:
                    self._forward(process, line, stopped)
                    for key, _ in selector.select(max(next_tick - time.monotonic(), 0)):
                        self._handle(key, selector, line, wakeup)
                    if time.monotonic() >= next_tick:
                        next_tick = time.monotonic() + _TICK_SECONDS
                        tick()
                for key in list(selector.get_map().values()):
                    if not isinstance(key.data, _Source):
                        selector.unregister(key.fileobj)
                self._drain(selector, line)
            finally:
                os.close(ended)
        return _ending(process.returncode, stopped)

    def _handle(
        self, key: selectors.SelectorKey, selector: selectors.BaseSelector, line: StatusLine, wakeup: int
    ) -> None:
        if isinstance(key.data, _Source):
            data = _read(key.data.descriptor)
            if data:
                _deliver(key.data, data, line)
            else:
                selector.unregister(key.fileobj)
        elif key.fd == wakeup:
            _read(wakeup)
        elif isinstance(key.data, int):
            typed = _read(0)
            if typed:
                os.write(key.data, typed)
            else:
                selector.unregister(key.fileobj)

    def _forward(self, process: "subprocess.Popen[bytes]", line: StatusLine, stopped: list[int]) -> None:
        signals, self._signals = self._signals, []
        for number in signals:
            if number == signal.SIGWINCH:
                line.resize()
                for master in self._wiring.masters:
                    _set_size(master, line.takes_a_row)
                continue
            again = number in _KILLING and any(old in _KILLING for old in stopped)
            stopped.append(number)
            line.note(
                "again: the command is killed"
                if again
                else f"{signal.Signals(number).name} is passed on to the command"
            )
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL if again else number)

    def _drain(self, selector: selectors.BaseSelector, line: StatusLine) -> None:
        deadline = time.monotonic() + _DRAIN_LIMIT_SECONDS
        while selector.get_map() and time.monotonic() < deadline:
            found = selector.select(_DRAIN_SECONDS)
            if not found:
                return
            for key, _ in found:
                self._handle(key, selector, line, -1)


def _deliver(source: _Source, data: bytes, line: StatusLine) -> None:
    if source.capture is not None:
        source.capture.write(data)
        source.capture.flush()
    if source.keep is not None:
        source.keep(source.descriptor, data)
    if source.show is not None:
        line.pass_on(source.show, data)


def _wire(streams: Streams) -> _Wiring:
    wiring = _Wiring()
    out, error = os.isatty(1), os.isatty(2)
    shown = 1 if out else 2 if error else None
    through_us = streams.keep_apart or streams.keep is not None
    slave: int | None = None

    def terminal(descriptor: int) -> int:
        nonlocal slave
        if slave is None:
            master, slave = _open_terminal(streams.keep_apart)
            wiring.masters.append(master)
            wiring.ours.append(slave)
            wiring.sources.append(_Source(master, show=shown, keep=streams.keep))
            wiring.controlling = descriptor
        return slave

    if os.isatty(0) and os.tcgetpgrp(0) == os.getpgrp():
        wiring.stdin = terminal(0)
        wiring.keyboard = wiring.masters[0]
    if streams.capture is not None:
        wiring.stdout = _wire_capture(wiring, streams, streams.capture)
    elif out and through_us:
        wiring.stdout = terminal(1)
    elif streams.keep is not None:
        wiring.stdout = _wire_pipe(wiring, streams, 1)
    if error and through_us:
        wiring.stderr = terminal(2)
    elif streams.keep is not None:
        wiring.stderr = _wire_pipe(wiring, streams, 2)
    return wiring


def _wire_pipe(wiring: _Wiring, streams: Streams, descriptor: int) -> int | None:
    """A pipe that goes on to ours; None where ours is a file that nobody wants a copy of, or closed."""
    try:
        if stat.S_ISREG(os.fstat(descriptor).st_mode) and not streams.keep_files:
            return None
    except OSError:
        return None
    ours, theirs = os.pipe2(os.O_CLOEXEC)
    wiring.ours.append(theirs)
    wiring.sources.append(_Source(ours, show=descriptor, keep=streams.keep))
    return theirs


def _wire_capture(wiring: _Wiring, streams: Streams, path: Path) -> int:
    """Standard output into a file and, if wanted, on to ours; a terminal of its own where ours is one."""
    if os.isatty(1) and streams.pass_output:
        ours, theirs = _open_terminal(streams.keep_apart)
        wiring.masters.append(ours)
    else:
        ours, theirs = os.pipe2(os.O_CLOEXEC)
    wiring.ours.append(theirs)
    wiring.sources.append(
        _Source(ours, show=1 if streams.pass_output else None, capture=path.open("ab"), keep=streams.keep)
    )
    return theirs


def _open_terminal(keep_apart: bool) -> tuple[int, int]:
    """Master and slave of a pseudo terminal that changes nothing of what is written to it."""
    master, slave = pty.openpty()
    os.set_inheritable(master, False)
    os.set_inheritable(slave, False)
    attributes: list[Any] = termios.tcgetattr(slave)
    attributes[1] &= ~termios.OPOST
    termios.tcsetattr(slave, termios.TCSANOW, attributes)
    _set_size(master, keep_apart)
    return master, slave


def _set_size(master: int, keep_apart: bool) -> None:
    for descriptor in (2, 1, 0):
        try:
            size = os.get_terminal_size(descriptor)
        except OSError:
            continue
        rows = size.lines - 1 if keep_apart and size.lines > 2 else size.lines
        fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, size.columns, 0, 0))
        return


def _read(descriptor: int) -> bytes:
    """What is there; empty at the end. A pseudo terminal whose command is gone answers EIO."""
    try:
        return os.read(descriptor, _CHUNK)
    except OSError:
        return b""


def _ending(returncode: int, stopped: Sequence[int]) -> Ending:
    first = signal.Signals(stopped[0]) if stopped else None
    name = first.name if first is not None else ""
    if returncode < 0:
        return Ending(status=SIGNAL_BASE - returncode, killed_by=signal.Signals(-returncode).name, stopped_by=name)
    if returncode == 0 and first is not None:
        return Ending(status=SIGNAL_BASE + first.value, stopped_by=name)
    return Ending(status=returncode, stopped_by=name)
