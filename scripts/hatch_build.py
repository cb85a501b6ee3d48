"""The wheel carries the page: it is built where it is missing, or older than its sources."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PAGE_FOLDER = "backend/loadwatch_backend/ui"
SOURCES = ("package-lock.json", "frontend/index.html", "frontend/package.json", "frontend/vite.config.ts")


class PageBuildHook(BuildHookInterface[BuilderConfig]):
    """Of wheels only; an editable install serves what `make build-ui` leaves in the tree."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Run `make build-ui`, which installs the npm packages too."""
        if version == "editable":
            return
        build_data["artifacts"].append(f"{PAGE_FOLDER}/**")
        root = Path(self.root)
        if is_built(root):
            return
        if not (root / "frontend/package.json").exists():
            self.app.abort(f"{PAGE_FOLDER} is missing, and so is frontend/: build the wheel from a checkout.")
        if shutil.which("npm") is None or shutil.which("make") is None:
            self.app.abort("The page has to be built for the wheel: install Node.js 20 or newer, with npm, and make.")
        if subprocess.run(["make", "--silent", "build-ui"], cwd=root, check=False).returncode:
            self.app.abort("The wheel was not built, because `make build-ui` failed.")


def is_built(root: Path) -> bool:
    """Whether the page is there and none of its sources is newer."""
    page = root / PAGE_FOLDER / "index.html"
    sources = [path for name in SOURCES if (path := root / name).exists()]
    sources += (root / "frontend/src").rglob("*")
    return page.exists() and all(path.stat().st_mtime <= page.stat().st_mtime for path in sources)
