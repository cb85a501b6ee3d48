"""The words around what rules and runs say, in messages of alerts."""

from loadwatch_backend.texts.words import Catalogue, Words

NOTIFY: Catalogue = {
    "FIRING": Words("FIRING", "発生"),
    "RESOLVED": Words("RESOLVED", "解消"),
    "STOPPED": Words("STOPPED SENDING", "送信停止"),
    "firing": Words("Firing", "発生中"),
    "resolved": Words("Resolved", "解消"),
    "stopped": Words("Stopped sending", "送信停止"),
    "stopped_help": Words(
        "Nobody sends its target any more, so whether this is over is not known. If it was taken away, say so on the "
        "page Targets.",
        "ターゲットが送信を停止したため、解消したかは不明です。撤去した場合は「ターゲット」ページで回答してください。",
    ),
    "since": Words("since {since}", "{since} から"),
    "span": Words("{since} to {ended}, {length}", "{since} から {ended} まで（{length}）"),
    "seconds": Words("{seconds} s", "{seconds} 秒"),
    "minutes": Words("{minutes} min {seconds:02d} s", "{minutes} 分 {seconds:02d} 秒"),
    "hours": Words("{hours} h {minutes:02d} min", "{hours} 時間 {minutes:02d} 分"),
    "more": Words("and {count} more", "ほか {count} 件"),
    "with_more": Words("{first} (and {count} more)", "{first}（ほか {count} 件）"),
    "open": Words("Open: {url}", "開く: {url}"),
    "runbook": Words("Runbook", "手順書"),
    "runbook_of": Words("Runbook of {name}", "{name} の手順書"),
    "open_alert": Words("Open in Loadwatch", "Loadwatch で開く"),
    "run": Words("Run", "実行"),
    "open_run": Words("Open the run", "実行を開く"),
    "subject_more": Words("{name} and {count} more", "{name} ほか {count} 件"),
    "ran_out": Words("What ran out: {sentence}", "尽きたもの: {sentence}"),
    "ran_out_so": Words("What ran out: {sentence} ({certainty})", "尽きたもの: {sentence}（{certainty}）"),
    "test_subject": Words("Test message from Loadwatch", "Loadwatch からのテスト通知"),
    "test_text": Words(
        "If you can read this, alerts of Loadwatch reach you here. Nothing is wrong, and there is nothing to do.",
        "これが読めれば、Loadwatch のアラートはここに届きます。異常はなく、対応は不要です。",
    ),
}
