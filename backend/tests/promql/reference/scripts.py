"""Copies Prometheus' own test scripts as they are: `python -m backend.tests.promql.reference.scripts FOLDER OUT`.

FOLDER is `promql/promqltest/testdata` of the library of go.mod (Apache-2.0). The same scripts give the same bytes.
"""

import sys
import zipfile
from pathlib import Path


def main(folder: Path, out: Path) -> None:
    """Write the archive."""
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for script in sorted(folder.glob("*.test")):
            entry = zipfile.ZipInfo(script.name, (2026, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, script.read_bytes())


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
