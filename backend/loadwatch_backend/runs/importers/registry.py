"""All formats, in the order in which equal confidence decides."""

from loadwatch_backend.runs.importers.importer import Importer
from loadwatch_backend.runs.importers.tools.artillery import ARTILLERY
from loadwatch_backend.runs.importers.tools.gatling import GATLING_BINARY, GATLING_TEXT
from loadwatch_backend.runs.importers.tools.hey import HEY_CSV, HEY_TEXT
from loadwatch_backend.runs.importers.tools.jmeter import JMETER_CSV, JMETER_XML
from loadwatch_backend.runs.importers.tools.k6.points import K6_CSV, K6_JSON
from loadwatch_backend.runs.importers.tools.k6.summary import K6_SUMMARY
from loadwatch_backend.runs.importers.tools.locust import LOCUST
from loadwatch_backend.runs.importers.tools.oha import OHA_CSV, OHA_DATABASE, OHA_JSON
from loadwatch_backend.runs.importers.tools.vegeta import VEGETA_CSV, VEGETA_GOB, VEGETA_JSON
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
