"""Texts that have ended or held up the process once, or would if one of the bounds were gone."""

_DEEP = "(" * 30_000

HOSTILE: dict[str, str] = {
    "brackets between quotes in comments": f'# "\n{"(" * 10_000}\n# "',
    "brackets between quotes in comments, within 16 kB": f'# "\nx{"(" * 7_000}\n# "',
    "closed brackets between quotes in comments": f'# "\n{"(" * 7_000}x{")" * 7_000}\n# "',
    "brackets behind a carriage return that ends a comment": f"x # \r{_DEEP}",
    "a comment with brackets that close": f"# {')' * 1000}\n{'(' * 1000}x{')' * 1000}",
    "upper-case operators": "a" + " OR a" * 2_500,
    "upper-case operators, 65 kB": "a" + " OR a" * 13_000,
    "mixed-case operators": "a" + " aNd a" * 2_000,
    "2,000 brackets behind a comment": f'#"\n{"(" * 2_000}x{")" * 2_000}#"',
    "8,000 brackets": "(" * 8_000 + "x" + ")" * 8_000,
    "brackets that were never opened": ")" * 100 + "(" * 300 + "x" + ")" * 300,
    "escapes in a string": '"' + "\\n" * 30_000 + '"',
    "comments": "#\n" * 30_000 + "x",
    "signs": "-" * 5_000 + "x",
    "functions": "abs(" * 4_000 + "x" + ")" * 4_000,
    "powers": "x" + "^x" * 5_000,
    "quotes of another kind": "'\"' + " * 300 + "x",
    "braces in braces": "x{" * 5_000,
    "subqueries": "max_over_time(" * 1_000 + "x" + "[1m:1m])" * 1_000,
    "regular expressions": "x{" + 'a=~"\\\\pL{80}",' * 900 + "}",
}

PANICS: dict[str, str] = {
    "an offset that is no number": "x offset NaN",
    "an offset without end": "x offset -Inf",
    "an offset beyond every clock": "x offset 1e300",
    "a range beyond every clock": "rate(x[99999999999999999999999999999])",
    "a time that is no number": "x @ NaN",
}
"""Texts of few signs on which the parser itself gives up."""
