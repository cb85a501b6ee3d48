"""All formats, in the order in which equal confidence decides."""

from loadwatch_backend.runs.importers.importer import Importer
from loadwatch_backend.runs.importers.tools.artillery import ARTILLERY
from loadwatch_backend.runs.importers.tools.gatling.binary import IMPORTER as GATLING_BINARY
from loadwatch_backend.runs.importers.tools.gatling.text import IMPORTER as GATLING_TEXT
from loadwatch_backend.runs.importers.tools.hey import HEY_CSV, HEY_TEXT
from loadwatch_backend.runs.importers.tools.jmeter.csv import IMPORTER as JMETER_CSV
from loadwatch_backend.runs.importers.tools.jmeter.xml import IMPORTER as JMETER_XML
from loadwatch_backend.runs.importers.tools.k6.csv import K6_CSV
from loadwatch_backend.runs.importers.tools.k6.json import K6_JSON
from loadwatch_backend.runs.importers.tools.k6.summary import K6_SUMMARY
from loadwatch_backend.runs.importers.tools.locust import LOCUST
from loadwatch_backend.runs.importers.tools.oha import OHA_CSV, OHA_DATABASE, OHA_JSON
from loadwatch_backend.runs.importers.tools.vegeta.csv import IMPORTER as VEGETA_CSV
from loadwatch_backend.runs.importers.tools.vegeta.gob import IMPORTER as VEGETA_GOB
from loadwatch_backend.runs.importers.tools.vegeta.json import IMPORTER as VEGETA_JSON
from loadwatch_backend.runs.importers.tools.wrk import WRK_JSON, WRK_TEXT

IMPORTERS: tuple[Importer, ...] = (
    VEGETA_GOB,
    VEGETA_CSV,
    VEGETA_JSON,
    K6_JSON,
    K6_CSV,
    K6_SUMMARY,
    LOCUST,
    GATLING_BINARY,
    GATLING_TEXT,
    JMETER_CSV,
    JMETER_XML,
    HEY_CSV,
    HEY_TEXT,
    OHA_JSON,
    OHA_CSV,
    OHA_DATABASE,
    WRK_TEXT,
    WRK_JSON,
    ARTILLERY,
)
