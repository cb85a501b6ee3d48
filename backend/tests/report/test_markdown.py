from loadwatch_backend.report.markdown import escape_cell, make_table, render_markdown
from loadwatch_backend.report.texts import EN, JA, Texts

from backend.tests.report.making import make_report


def test_every_table_has_as_many_cells_in_each_row() -> None:
    for language, words in (("en", EN), ("ja", JA)):
        texts = Texts(words)
        document = render_markdown(make_report(texts), texts, language)
        width = 0
        for line in document.splitlines():
            if not line.startswith("|"):
                width = 0
                continue
            cells = line.replace("\\|", "").count("|")
            assert width in (0, cells), line
            width = cells


def test_figures_stand_in_the_document() -> None:
    texts = Texts(EN)
    document = render_markdown(make_report(texts), texts, "en")
    for said in ("**Failed**", "| p95\\<300ms | 400 ms | steady window | Failed |", "+12.5%", "2,615", "### Approach"):
        assert said in document, said


def test_cells_break_no_table_and_start_no_markup() -> None:
    assert escape_cell("a|b\n<i>*c*") == "a\\|b \\<i\\>\\*c\\*"


def test_numbers_stand_at_the_right() -> None:
    assert make_table(["a", "b"], [["x", "1"]]) == "| a | b |\n| --- | ---: |\n| x | 1 |"
