from loadwatch_formats.terminal_table import Column, cut, draw_table, width


def test_a_table_fits_and_numbers_stand_to_the_right() -> None:
    columns = (Column(title="NAME", elastic=True), Column(title="N", right=True))
    rows = [["a rather long name of a run", "5"], ["短い名前", "12345"]]
    assert draw_table(columns, rows, available=20).splitlines() == [
        "NAME               N",
        "a rather lon…      5",
        "短い名前       12345",
    ]
    wide = draw_table(columns, rows, available=200).splitlines()
    assert wide[1] == "a rather long name of a run      5"


def test_wide_characters_are_cut_by_columns() -> None:
    assert width("日本語") == 6
    assert cut("日本語", 6) == "日本語"
    assert cut("日本語", 5) == "日本…"
    assert draw_table((Column(title="A", elastic=True),), [["a\nb"]], available=10) == "A\na b"
