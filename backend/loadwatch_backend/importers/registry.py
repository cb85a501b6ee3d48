"""All formats, in the order in which equal confidence decides."""

from loadwatch_backend.importers.importer import Importer
from loadwatch_backend.importers.vegeta_csv import IMPORTER as VEGETA_CSV

IMPORTERS: tuple[Importer, ...] = (VEGETA_CSV,)
