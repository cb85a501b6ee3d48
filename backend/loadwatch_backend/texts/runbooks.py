"""What stands around a runbook."""

from loadwatch_backend.texts.words import Catalogue, Words

RUNBOOKS: Catalogue = {
    "alerts": Words("Alerts", "アラート"),
    "live": Words("Live", "ライブ"),
    "runbooks": Words("Runbooks", "手順書"),
    "other_language": Words("日本語", "English"),
}
