import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadwatch_collectors.sources.aws.discovery.readers import FormulaError, evaluate, is_formula

GIB = 1024**3
AURORA = "GREATEST({log(DBInstanceClassMemory/805306368)*45},{log(DBInstanceClassMemory/8187281408)*1000})"


@pytest.mark.parametrize(
    ("text", "memory_gib", "value"),
    [
        ("{DBInstanceClassMemory/12582880}", 8, 682),  # RDS for MySQL
        ("LEAST({DBInstanceClassMemory/25165760},12000)", 16, 682),  # MariaDB
        ("LEAST({DBInstanceClassMemory/25165760},12000)", 2000, 12000),
        ("LEAST({DBInstanceClassMemory/9531392},5000)", 32, 3604),  # PostgreSQL
        (AURORA, 2, 63),  # Aurora MySQL: the small classes by the first term
        (AURORA, 32, 2069),
        ("{DBInstanceClassMemory*3/4}", 4, 3 * GIB),
        ("SUM({DBInstanceClassMemory/12038},-50003)", 4, 356779 - 50003 + 4),
        ("(1 + 2) * 3", 1, 9),
        ("7 - 2 - 1", 1, 4),
        ("-{7/2}", 1, -4),
    ],
)
def test_formulas_of_the_documentation(text: str, memory_gib: int, value: int):
    assert evaluate(text, {"DBInstanceClassMemory": memory_gib * GIB}) == pytest.approx(value, abs=4)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "{1",
        "1)",
        "LEAST()",
        "MEDIAN(1,2)",
        "{AllocatedStorage/2}",
        "1 2",
        "{1/0}",
        "log(0)",
        "log(0-5)",
        "{}",
        "@",
        "(" * 5000,
    ],
)
def test_what_has_no_value_says_so(text: str):
    with pytest.raises(FormulaError):
        evaluate(text, {"DBInstanceClassMemory": 1})


@given(st.text(alphabet="0123456789.+-*/(){},LEASTlog DBInstanceClassMemory"))
def test_no_text_does_anything_else(text: str):
    try:
        assert isinstance(evaluate(text, {"DBInstanceClassMemory": GIB}), int)
    except FormulaError:
        pass


@pytest.mark.parametrize(("text", "expected"), [("1000", False), (" 5 ", False), ("{5}", True), ("LEAST(1,2)", True)])
def test_a_number_is_no_formula(text: str, expected: bool):
    assert is_formula(text) is expected
