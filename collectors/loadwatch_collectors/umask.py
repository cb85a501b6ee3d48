"""Files that Loadwatch writes are their owner's alone; those of a command that it wraps are as the shell has them."""

import os

PRIVATE = 0o077
_inherited: list[int] = []


def keep_private() -> None:
    """Take others' rights from all files that this process makes from now on; a umask is the whole process's."""
    _inherited.append(os.umask(PRIVATE))


def inherited_umask() -> int:
    """The umask that the process was started with, as `subprocess.Popen` takes it; -1 leaves the one in force."""
    return _inherited[0] if _inherited else -1
