"""RDS parameters that are formulas, such as `{DBInstanceClassMemory/12582880}`. Pure.

Grammar after "Specifying DB parameters" of the RDS User Guide: numbers, + - * /, parentheses, and the functions
GREATEST, LEAST, SUM and log (base 2, of Aurora). The result is a whole number, rounded down.
"""

import math
import re
from collections.abc import Callable, Mapping

_TOKEN = re.compile(r"\s*(?:(\d+(?:\.\d+)?)|([A-Za-z_]\w*)|(.))")


_FUNCTIONS: Mapping[str, Callable[[list[float]], float]] = {
    "GREATEST": max,
    "LEAST": min,
    "SUM": sum,
    "LOG": lambda values: math.log2(values[0]),
}


class FormulaError(ValueError):
    """A formula that is not understood, or that needs a variable that is not known."""


def evaluate(text: str, variables: Mapping[str, float]) -> int:
    """The whole number that a parameter's text stands for.

    Raises:
        FormulaError: it is not a formula, or a variable is unknown.
    """
    parser = _Parser(text, variables)
    try:
        value = parser.sum()
        if not parser.at_end():
            raise FormulaError(f"{text!r} goes on where its end was expected")
        return math.floor(value)
    except (ArithmeticError, ValueError, RecursionError) as error:
        if isinstance(error, FormulaError):
            raise
        raise FormulaError(f"{text!r} has no value") from error


def is_formula(text: str) -> bool:
    """Whether a parameter's text is more than a number."""
    return not re.fullmatch(r"\s*\d+\s*", text)


class _Parser:
    def __init__(self, text: str, variables: Mapping[str, float]) -> None:
        self._text = text
        self._variables = variables
        self._tokens = [next(part for part in match.groups() if part is not None) for match in _TOKEN.finditer(text)]
        self._at = 0

    def at_end(self) -> bool:
        return self._at >= len(self._tokens)

    def sum(self) -> float:
        value = self._product()
        while self._peek() in ("+", "-"):
            value = value + self._product() if self._take() == "+" else value - self._product()
        return value

    def _product(self) -> float:
        value = self._factor()
        while self._peek() in ("*", "/"):
            value = value * self._factor() if self._take() == "*" else value / self._factor()
        return value

    def _factor(self) -> float:
        token = self._take()
        if token == "-":
            return -self._factor()
        if token in ("{", "("):
            value = self.sum()
            self._expect("}" if token == "{" else ")")
            return value
        if token[:1].isdigit():
            return float(token)
        if self._peek() == "(":
            return self._call(token)
        if token not in self._variables:
            raise FormulaError(f"{self._text!r} needs {token or 'more'}, which is not known")
        return self._variables[token]

    def _call(self, name: str) -> float:
        function = _FUNCTIONS.get(name.upper())
        if function is None:
            raise FormulaError(f"{self._text!r} has the unknown function {name}")
        self._expect("(")
        values = [self.sum()]
        while self._peek() == ",":
            self._take()
            values.append(self.sum())
        self._expect(")")
        return function(values)

    def _peek(self) -> str:
        return self._tokens[self._at] if not self.at_end() else ""

    def _take(self) -> str:
        token = self._peek()
        self._at += 1
        return token

    def _expect(self, wanted: str) -> None:
        if self._take() != wanted:
            raise FormulaError(f"{self._text!r} lacks {wanted}")
