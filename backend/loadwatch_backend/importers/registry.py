"""All formats, in the order in which equal confidence decides."""

from loadwatch_backend.importers.importer import Importer
from loadwatch_backend.importers.vegeta_csv import IMPORTER as VEGETA_CSV
from loadwatch_backend.importers.vegeta_gob import IMPORTER as VEGETA_GOB
from loadwatch_backend.importers.vegeta_json import IMPORTER as VEGETA_JSON

IMPORTERS: tuple[Importer, ...] = (
    VEGETA_GOB,
    VEGETA_CSV,
    VEGETA_JSON,
)
