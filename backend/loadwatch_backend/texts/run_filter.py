"""What is said of a filter of runs that cannot be read."""

from loadwatch_backend.texts.words import Catalogue, Words

RUN_FILTER: Catalogue = {
    "where": Words("Character {column}: {text}", "{column} 文字目: {text}"),
    "unknown-key": Words(
        'there is no key "{name}"; there are {known}. Put a text with a colon into quotes.',
        "キー「{name}」はありません。使えるのは {known} です。コロンを含む文字列は引用符で囲んでください。",
    ),
    "compared": Words(
        '"{name}" is a figure: compare it, as in {name}>{value}, or {name}={value}.',
        "「{name}」は数値です。{name}>{value} や {name}={value} のように比較してください。",
    ),
    "choice": Words(
        '"{value}" is no {name}; there are {known}.',
        "「{value}」は {name} の値ではありません。使えるのは {known} です。",
    ),
    "time": Words(
        '"{value}" is no time; write so long ago (since:7d, since:12h) or a date (since:2026-11-20).',
        "「{value}」は時刻として読めません。期間(since:7d、since:12h)か日付(since:2026-11-20)で書いてください。",
    ),
    "not-a-number": Words(
        '"{value}" is no number; {name} takes such as 10, 300ms, 99% or 4k. Words can only be = or !=.',
        "「{value}」は数値ではありません。{name} には 10、300ms、99%、4k などを書きます。文字列には = か != だけです。",
    ),
    "no-value": Words('nothing stands after "{before}".', "「{before}」の後に値がありません。"),
    "no-name": Words(
        "a name is missing before the sign, as in pool>10; put a text with such signs into quotes.",
        "記号の前に名前がありません(例: pool>10)。記号を含む文字列は引用符で囲んでください。",
    ),
    "open-quote": Words("this quote is never closed.", "この引用符が閉じられていません。"),
    "after-quote": Words("a space is missing after the quote.", "引用符の後に空白が必要です。"),
    "too-many": Words("more than {most} terms.", "条件は {most} 個までです。"),
}
