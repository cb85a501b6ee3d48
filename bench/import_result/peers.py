"""The peers, each installed into a throw-away directory with its own package manager."""

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

from bench.import_result.results import GATLING_VERSION

JMETER_VERSION = "5.6.3"
JAVA_MEMORY = "-Xmx6g"
_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>bench</groupId><artifactId>bench</artifactId><version>1</version><dependencies>{}</dependencies></project>
"""
_DEPENDENCY = "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>"


def polars(directory: Path) -> tuple[Path, str]:
    """A Python with polars and numpy, and polars' version."""
    venv.create(directory, with_pip=True)
    python = directory / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", "polars", "numpy"], check=True)
    shown = [python, "-c", "import polars; print(polars.__version__)"]
    return python, subprocess.run(shown, check=True, capture_output=True, text=True).stdout.strip()


def jmeter(directory: Path, jtl: Path, report: Path) -> list[str]:
    """The command of JMeter's HTML dashboard generator (`jmeter -g FILE -o DIRECTORY`)."""
    jars = _maven(
        directory,
        [
            ("org.apache.jmeter", name, JMETER_VERSION)
            for name in ("ApacheJMeter", "ApacheJMeter_core", "ApacheJMeter_http", "ApacheJMeter_config")
        ],
    )
    with zipfile.ZipFile(jars / f"ApacheJMeter_config-{JMETER_VERSION}.jar") as archive:
        archive.extractall(directory, [name for name in archive.namelist() if name.startswith("bin/")])
    (directory / "lib" / "ext").mkdir(exist_ok=True)
    main = f"-Djmeter.home={directory}", "-cp", f"{jars}/*", "org.apache.jmeter.NewDriver"
    return [
        "java",
        JAVA_MEMORY,
        "-Djava.awt.headless=true",
        *main,
        "-j",
        str(directory / "jmeter.log"),
        "-g",
        str(jtl),
        "-o",
        str(report),
    ]


def gatling(directory: Path, results: Path) -> list[str]:
    """The command of Gatling's report generator (`--reports-only FOLDER`); the log is in a folder of its own."""
    jars = _maven(directory, [("io.gatling.highcharts", "gatling-charts-highcharts", GATLING_VERSION)])
    main = "-cp", f"{jars}/*", "io.gatling.app.Gatling"
    return ["java", JAVA_MEMORY, *main, "-ro", results.name, "-rf", str(results.parent)]


def _maven(directory: Path, artifacts: list[tuple[str, str, str]]) -> Path:
    directory.mkdir(exist_ok=True)
    pom = directory / "pom.xml"
    pom.write_text(_POM.format("".join(_DEPENDENCY.format(*artifact) for artifact in artifacts)), encoding="utf-8")
    command = ["mvn", "-q", "-B", "-f", str(pom), "dependency:copy-dependencies", f"-DoutputDirectory={directory}/lib"]
    subprocess.run(command, check=True, stdout=sys.stderr)
    return directory / "lib"
