"""The words around what rules and runs say, in messages for people; a test holds the languages together."""

from collections.abc import Mapping

from loadwatch_backend.kit.language import Language

Words = Mapping[str, str]

WORDS: Mapping[Language, Words] = {
    Language.EN: {
        "FIRING": "FIRING",
        "RESOLVED": "RESOLVED",
        "firing": "Firing",
        "resolved": "Resolved",
        "since": "since {since}",
        "span": "{since} to {ended}, {length}",
        "seconds": "{seconds} s",
        "minutes": "{minutes} min {seconds:02d} s",
        "hours": "{hours} h {minutes:02d} min",
        "more": "and {count} more",
        "with_more": "{first} (and {count} more)",
        "open": "Open: {url}",
        "runbook": "Runbook",
        "runbook_of": "Runbook of {name}",
        "dashboard": "Dashboard",
        "moment": "Dashboard at that moment",
        "open_moment": "Open the dashboard at that moment",
        "open_dashboard": "Open the dashboard",
        "run": "Run",
        "open_run": "Open the run",
    },
    Language.JA: {
        "FIRING": "発生",
        "RESOLVED": "解消",
        "firing": "発生中",
        "resolved": "解消",
        "since": "{since} から",
        "span": "{since} から {ended} まで（{length}）",
        "seconds": "{seconds} 秒",
        "minutes": "{minutes} 分 {seconds:02d} 秒",
        "hours": "{hours} 時間 {minutes:02d} 分",
        "more": "ほか {count} 件",
        "with_more": "{first}（ほか {count} 件）",
        "open": "開く: {url}",
        "runbook": "手順書",
        "runbook_of": "{name} の手順書",
        "dashboard": "ダッシュボード",
        "moment": "その時点のダッシュボード",
        "open_moment": "その時点のダッシュボードを開く",
        "open_dashboard": "ダッシュボードを開く",
        "run": "実行",
        "open_run": "実行を開く",
    },
}
