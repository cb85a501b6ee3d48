"""All formats, in the order in which equal confidence decides."""

from loadwatch_backend.importers.artillery import ARTILLERY
from loadwatch_backend.importers.gatling_binary import IMPORTER as GATLING_BINARY
from loadwatch_backend.importers.gatling_text import IMPORTER as GATLING_TEXT
from loadwatch_backend.importers.hey import HEY_CSV, HEY_TEXT
from loadwatch_backend.importers.importer import Importer
from loadwatch_backend.importers.jmeter_csv import IMPORTER as JMETER_CSV
from loadwatch_backend.importers.jmeter_xml import IMPORTER as JMETER_XML
from loadwatch_backend.importers.k6_csv import K6_CSV
from loadwatch_backend.importers.k6_json import K6_JSON
from loadwatch_backend.importers.k6_summary import K6_SUMMARY
from loadwatch_backend.importers.locust import LOCUST
from loadwatch_backend.importers.oha import OHA_CSV, OHA_DATABASE, OHA_JSON
from loadwatch_backend.importers.vegeta_csv import IMPORTER as VEGETA_CSV
from loadwatch_backend.importers.vegeta_gob import IMPORTER as VEGETA_GOB
from loadwatch_backend.importers.vegeta_json import IMPORTER as VEGETA_JSON
from loadwatch_backend.importers.wrk import WRK_JSON, WRK_TEXT

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
