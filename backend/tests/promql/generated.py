"""PromQL by chance, the same for the same seed."""

import random

_LETTERS = "a0(){}[]#\"'`\\\n\r§|-+ or\u00e9"
_ENDS = ("\n", "\r", '("\n', "'\r\n")
_SPACES = ("\t", "\n", "\r", "   ")
_NUMBERS = ("1", "1e-5", "0x1F", ".5", "5.", "NaN", "iNf", "1e+5")
_OPERATORS = (*"+-*/%^<>", "==", "!=", ">=", "<=", "and", "or", "unless", "atan2")
_NOISE = (
    *("(", ")", "[", "]", "{", "}", "a", " or ", " OR", "-", '"', "'", "`", "#", "\n", "\r", "\\", "1m", ":", "@", ","),
    *("sum", " by ", " offset ", "=~", "=", "é", "\x00", "1e", "0x", "§1", "(" * 40, "-" * 90, " or a" * 90),
)


class GeneratedTexts:
    """PromQL by chance: the parts of an expression, and what may stand between them."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._left = 12

    def pair(self) -> tuple[str, str]:
        """A text with odd spaces and comments, and the same with single spaces."""
        parts = self._expression()
        return "".join([part + self._space() for part in parts]), " ".join(parts)

    def noise(self) -> str:
        """Pieces in no order."""
        return "".join(self._random.choices(_NOISE, k=self._random.randrange(60)))

    def _space(self) -> str:
        choose = self._random.choice
        return "".join([" ", *(choose((self._comment(), choose(_SPACES))) for _ in range(self._random.randrange(3)))])

    def _comment(self) -> str:
        return f"#{self._letters(_LETTERS.replace(chr(10), '').replace(chr(13), ''))}{self._random.choice(_ENDS)}"

    def _letters(self, letters: str) -> str:
        return "".join(self._random.choices(letters, k=self._random.randrange(9)))

    def _string(self) -> str:
        text, quote = self._letters(_LETTERS), self._random.choice("\"'`")
        if quote == "`":
            return f"`{text.replace('`', '')}`"
        return quote + text.replace("\\", "\\\\").replace(quote, f"\\{quote}") + quote

    def _selector(self) -> list[str]:
        parts = ["x", "{"]
        for _ in range(self._random.randrange(3)):
            name = self._random.choice(("a", "or", "AND", "by"))
            pattern = self._random.choice((True, False))
            value = self._random.choice(('"a|b"', "`.*`", "'x+'", '""')) if pattern else self._string()
            parts += [name, self._random.choice(("=~", "!~") if pattern else ("=", "!=")), value, ","]
        return [*parts, "}"]

    def _expression(self) -> list[str]:
        self._left -= 1
        kind = self._random.choice(("leaf", "parenthesis", "sign", "sum", "both", "both")) if self._left > 0 else "leaf"
        match kind:
            case "parenthesis":
                return ["(", *self._expression(), ")"]
            case "sign":
                return [self._random.choice("-+"), *self._expression()]
            case "sum":
                return ["sum", "by", "(", "and", ",", "OR", ")", "(", *self._expression(), ")"]
            case "both":
                return [*self._expression(), self._operator(), *self._expression()]
            case _:
                return self._leaf()

    def _operator(self) -> str:
        operator = self._random.choice(_OPERATORS)
        return "".join([self._random.choice((letter, letter.upper())) for letter in operator])

    def _leaf(self) -> list[str]:
        match self._random.randrange(4):
            case 0:
                return [self._random.choice(_NUMBERS)]
            case 1:
                return ["rate", "(", *self._selector(), "[", "5m", "]", ")"]
            case 2:
                return ["label_join", "(", *self._selector(), ",", '"to"', ",", self._string(), ")"]
            case _:
                return self._selector()
