import stat
from pathlib import Path

from loadwatch_backend.access.wiring import load_sealing_key


def test_the_key_is_made_once_and_private(tmp_path: Path):
    path = tmp_path / "session.key"
    key = load_sealing_key(path)
    assert len(key) == 32
    assert load_sealing_key(path) == key
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.write_bytes(b"short")
    assert len(load_sealing_key(path)) == 32
