"""Tokens to a tree (text/template/parse/parse.go)."""

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from loadwatch_backend.alerting.rules.gotemplate.formatting import TemplateError
from loadwatch_backend.alerting.rules.gotemplate.lex import Kind, Token, place_of, tokenize
from loadwatch_backend.core.text import GoSyntaxError
from loadwatch_backend.core.text import unquote as unquote_go


@dataclass(frozen=True, slots=True)
class Constant:
    value: str | int | float | bool


@dataclass(frozen=True, slots=True)
class Nil:
    """The word `nil`."""


@dataclass(frozen=True, slots=True)
class Dot:
    """The cursor."""


@dataclass(frozen=True, slots=True)
class Field:
    """`.A.B`: fields of the cursor."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Variable:
    """`$x.A.B`; `name` with its sign."""

    name: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chain:
    """`(pipeline).A.B`, or fields of a function's result."""

    operand: "Operand"
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Identifier:
    name: str


@dataclass(frozen=True, slots=True)
class Command:
    operands: tuple["Operand", ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """Commands, each with the former one's result as its last argument; variables that take the last result."""

    commands: tuple[Command, ...]
    variables: tuple[str, ...] = ()
    assigns: bool = False
    position: int = 0


Operand = Constant | Nil | Dot | Field | Variable | Chain | Identifier | Pipeline


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Action:
    pipeline: Pipeline


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """`if`, `with` or `range`."""

    kind: str
    pipeline: Pipeline
    body: "Nodes"
    otherwise: "Nodes" = ()


@dataclass(frozen=True, slots=True)
class Invoke:
    """`{{template "name" pipeline}}`."""

    name: str
    pipeline: Pipeline | None
    position: int


@dataclass(frozen=True, slots=True)
class Jump:
    """`break` or `continue`."""

    kind: str


Node = Text | Action | Branch | Invoke | Jump
Nodes = tuple[Node, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    text: str
    root: Nodes
    defined: Mapping[str, Nodes]


_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:_[0-9]+)*)")
_FLOAT = re.compile(r"[+-]?(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9]+)?")
_BASES = {"x": 16, "o": 8, "b": 2}
_LARGEST = 2**63 - 1


def unquote(text: str) -> str:
    """The text of a quoted string, raw string or character constant.

    Raises:
        TemplateError: an escape that Go does not know.
    """
    try:
        return unquote_go(text)
    except GoSyntaxError as error:
        raise TemplateError(f"invalid syntax in {text}: {error}") from error


def character(text: str) -> int:
    """The number of a character constant.

    Raises:
        TemplateError: not one character.
    """
    value = unquote(text)
    if len(value) != 1:
        raise TemplateError(f"malformed character constant: {text}")
    return ord(value)


def number(text: str) -> int | float:
    """An int, or a float where the text has a point or an exponent.

    Raises:
        TemplateError: not a number.
    """
    sign = -1 if text.startswith("-") else 1
    body = text.lstrip("+-")
    lowered = body.lower()
    try:
        if len(lowered) > 1 and lowered[0] == "0" and lowered[1] in _BASES:
            if lowered[1] == "x" and ("." in lowered or "p" in lowered):
                return sign * float.fromhex(body.replace("_", ""))
            return _integer(sign * int(body.replace("_", "")[2:], _BASES[lowered[1]]), text)
        if _DECIMAL.fullmatch(body):
            digits = body.replace("_", "")
            # As in Go, a leading zero means octal.
            return _integer(sign * int(digits, 8 if len(digits) > 1 and digits[0] == "0" else 10), text)
        if _FLOAT.fullmatch(body) and math.isfinite(value := float(body.replace("_", ""))):
            return sign * value
    except (ValueError, OverflowError):
        pass
    raise TemplateError(f"illegal number syntax: {text!r}")


def _integer(value: int, text: str) -> int:
    if not -_LARGEST - 1 <= value <= _LARGEST:
        raise TemplateError(f"integer overflow: {text!r}")
    return value


MAX_DEPTH = 60
"""Of parentheses and of blocks within each other; bounds the recursion of parser and execution."""


def parse_template(text: str, functions: Collection[str], variables: Collection[str] = ()) -> Template:
    """The tree of a template that may call the named functions and finds the named variables defined.

    Raises:
        TemplateError: says what is wrong and where.
    """
    parser = _Parser(text, functions, variables)
    root = parser.root()
    return Template(text=text, root=root, defined=parser.defined)


@dataclass(slots=True)
class _Scope:
    variables: list[str] = field(default_factory=lambda: ["$"])
    ranges: int = 0


class _Parser:
    def __init__(self, text: str, functions: Collection[str], variables: Collection[str]) -> None:
        self._text = text
        self._functions = functions
        self._tokens = tokenize(text)
        self._next = 0
        self._scope = _Scope(variables=["$", *variables])
        self._depth = 0
        self.defined: dict[str, Nodes] = {}

    # Tokens -----------------------------------------------------------------------------------------------------------

    def _peek(self) -> Token:
        return self._tokens[self._next]

    def _take(self) -> Token:
        token = self._tokens[self._next]
        self._next = min(self._next + 1, len(self._tokens) - 1)
        return token

    def _peek_solid(self) -> Token:
        while self._peek().kind is Kind.SPACE:
            self._next += 1
        return self._peek()

    def _take_solid(self) -> Token:
        self._peek_solid()
        return self._take()

    def _expect(self, kinds: tuple[Kind, ...], context: str) -> Token:
        token = self._take_solid()
        if token.kind not in kinds:
            raise self._unexpected(token, context)
        return token

    def _is_keyword(self, word: str) -> bool:
        token = self._peek_solid()
        return token.kind is Kind.KEYWORD and token.text == word

    def _unexpected(self, token: Token, context: str) -> TemplateError:
        what = "end of the text" if token.kind is Kind.END else repr(token.text)
        return self._error(f"unexpected {what} in {context}", token)

    def _error(self, message: str, token: Token | None = None) -> TemplateError:
        return TemplateError(f"{message} ({place_of(self._text, (token or self._peek()).position)})")

    # Blocks -----------------------------------------------------------------------------------------------------------

    def root(self) -> Nodes:
        nodes: list[Node] = []
        while self._peek().kind is not Kind.END:
            if self._at_define():
                self._definition()
                continue
            node = self._item()
            if isinstance(node, str):
                raise self._error(f"unexpected {{{{{node}}}}}")
            nodes.append(node)
        return tuple(nodes)

    def _at_define(self) -> bool:
        place = self._next
        if self._tokens[place].kind is not Kind.LEFT:
            return False
        while self._tokens[place + 1].kind is Kind.SPACE:
            place += 1
        found = self._tokens[place + 1]
        return found.kind is Kind.KEYWORD and found.text == "define"

    def _definition(self) -> None:
        self._take()
        self._take_solid()
        name = self._name("define clause")
        self._expect((Kind.RIGHT,), "define clause")
        self._define(name, self._body_of_definition("define clause"))

    def _body_of_definition(self, context: str) -> Nodes:
        outer, self._scope = self._scope, _Scope()
        body, ending = self._items()
        self._scope = outer
        if ending != "end":
            raise self._error(f"unexpected {{{{{ending}}}}} in {context}")
        return body

    def _define(self, name: str, body: Nodes) -> None:
        if _is_empty(self.defined.get(name, ())):
            self.defined[name] = body
        elif not _is_empty(body):
            raise self._error(f"multiple definition of template {name!r}")

    def _name(self, context: str) -> str:
        return unquote(self._expect((Kind.STRING, Kind.RAW_STRING), context).text)

    def _items(self) -> tuple[Nodes, str]:
        nodes: list[Node] = []
        while self._peek_solid().kind is not Kind.END:
            node = self._item()
            if isinstance(node, str):
                return tuple(nodes), node
            nodes.append(node)
        raise self._error("unexpected end of the text: an {{end}} is missing")

    def _item(self) -> Node | str:
        token = self._take_solid()
        if token.kind is Kind.TEXT:
            return Text(token.text)
        if token.kind is not Kind.LEFT:
            raise self._unexpected(token, "input")
        first = self._peek_solid()
        if first.kind is not Kind.KEYWORD:
            # Variables that are declared here live until the end of the block.
            return Action(self._pipeline("command", Kind.RIGHT))
        self._take()
        return self._control(first)

    def _control(self, token: Token) -> Node | str:
        match token.text:
            case "if" | "with" | "range":
                return self._branch(token.text)
            case "else":
                if not (self._is_keyword("if") or self._is_keyword("with")):
                    self._expect((Kind.RIGHT,), "else")
                return "else"
            case "end":
                self._expect((Kind.RIGHT,), "end")
                return "end"
            case "break" | "continue":
                self._expect((Kind.RIGHT,), f"{{{{{token.text}}}}}")
                if not self._scope.ranges:
                    raise self._error(f"{{{{{token.text}}}}} outside {{{{range}}}}", token)
                return Jump(token.text)
            case "template":
                name = self._name("template clause")
                pipeline = None
                if self._peek_solid().kind is Kind.RIGHT:
                    self._take()
                else:
                    pipeline = self._pipeline("template clause", Kind.RIGHT)
                return Invoke(name, pipeline, token.position)
            case "block":
                name = self._name("block clause")
                pipeline = self._pipeline("block clause", Kind.RIGHT)
                self._define(name, self._body_of_definition("block clause"))
                return Invoke(name, pipeline, token.position)
            case _:
                raise self._unexpected(token, "input")

    def _branch(self, kind: str) -> Branch:
        known = len(self._scope.variables)
        self._deeper()
        pipeline = self._pipeline(kind, Kind.RIGHT)
        self._scope.ranges += kind == "range"
        body, ending = self._items()
        self._scope.ranges -= kind == "range"
        otherwise: Nodes = ()
        if ending == "else":
            if kind != "range" and self._is_keyword(kind):
                # {{else if}} ends with the one {{end}} of the whole chain.
                self._take()
                otherwise = (self._branch(kind),)
            else:
                otherwise, ending = self._items()
                if ending != "end":
                    raise self._error("expected {{end}}, and {{else}} stands here")
        self._depth -= 1
        del self._scope.variables[known:]
        return Branch(kind=kind, pipeline=pipeline, body=body, otherwise=otherwise)

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._error(f"blocks and parentheses are nested deeper than {MAX_DEPTH} levels")

    # Pipelines --------------------------------------------------------------------------------------------------------

    def _pipeline(self, context: str, end: Kind) -> Pipeline:
        position = self._peek_solid().position
        variables, assigns = self._declarations(context)
        commands: list[Command] = []
        while True:
            token = self._peek_solid()
            if token.kind is end:
                self._take()
                break
            if token.kind not in _OPERANDS:
                raise self._unexpected(token, context)
            commands.append(self._command())
        if not commands:
            raise self._error(f"missing value for {context}")
        for stage, command in enumerate(commands[1:], 2):
            if isinstance(command.operands[0], (Constant, Nil, Dot)):
                raise self._error(f"non executable command in pipeline stage {stage}")
        return Pipeline(commands=tuple(commands), variables=tuple(variables), assigns=assigns, position=position)

    def _declarations(self, context: str) -> tuple[list[str], bool]:
        declared: list[str] = []
        while self._peek_solid().kind is Kind.VARIABLE:
            place = self._next
            name = self._take().text
            following = self._peek_solid()
            if following.kind in (Kind.ASSIGN, Kind.DECLARE):
                self._take()
                declared.append(name)
                self._scope.variables.append(name)
                return declared, following.kind is Kind.ASSIGN
            if following.kind is Kind.SIGN and following.text == ",":
                self._take()
                declared.append(name)
                self._scope.variables.append(name)
                if context != "range" or len(declared) > 1:
                    raise self._error(f"too many declarations in {context}", following)
                if self._peek_solid().kind not in (Kind.VARIABLE, Kind.RIGHT, Kind.CLOSE):
                    raise self._error("range can only initialize variables")
                continue
            self._next = place
            break
        return declared, False

    def _command(self) -> Command:
        operands: list[Operand] = []
        while True:
            self._peek_solid()
            operand = self._operand()
            if operand is not None:
                operands.append(operand)
            token = self._peek()
            if token.kind is Kind.SPACE:
                self._take()
                continue
            if token.kind is Kind.PIPE:
                self._take()
            elif token.kind not in (Kind.RIGHT, Kind.CLOSE):
                raise self._unexpected(token, "operand")
            break
        if not operands:
            raise self._error("empty command")
        return Command(tuple(operands))

    def _operand(self) -> Operand | None:
        first = self._peek_solid()
        node = self._term(first)
        if node is None or self._peek().kind is not Kind.FIELD:
            return node
        names: list[str] = []
        while self._peek().kind is Kind.FIELD:
            names.append(self._take().text[1:])
        match node:
            case Field(known):
                return Field((*known, *names))
            case Variable(name, known):
                return Variable(name, (*known, *names))
            case Constant() | Nil() | Dot():
                raise self._error(f"unexpected . after term {first.text!r}", first)
            case _:
                return Chain(node, tuple(names))

    def _term(self, token: Token) -> Operand | None:
        match token.kind:
            case Kind.IDENTIFIER:
                if token.text not in self._functions:
                    raise self._error(f"function {token.text!r} not defined", token)
                found: Operand = Identifier(token.text)
            case Kind.DOT:
                found = Dot()
            case Kind.NIL:
                found = Nil()
            case Kind.VARIABLE:
                if token.text not in self._scope.variables:
                    raise self._error(f"undefined variable {token.text!r}", token)
                found = Variable(token.text)
            case Kind.FIELD:
                found = Field((token.text[1:],))
            case Kind.BOOLEAN:
                found = Constant(token.text == "true")
            case Kind.CHARACTER:
                found = Constant(character(token.text))
            case Kind.NUMBER:
                found = Constant(number(token.text))
            case Kind.STRING | Kind.RAW_STRING:
                found = Constant(unquote(token.text))
            case Kind.OPEN:
                self._take()
                self._deeper()
                found = self._pipeline("parenthesized pipeline", Kind.CLOSE)
                self._depth -= 1
                return found
            case _:
                return None
        self._take()
        return found


_OPERANDS = frozenset(
    (
        Kind.BOOLEAN,
        Kind.CHARACTER,
        Kind.DOT,
        Kind.FIELD,
        Kind.IDENTIFIER,
        Kind.NUMBER,
        Kind.NIL,
        Kind.RAW_STRING,
        Kind.STRING,
        Kind.VARIABLE,
        Kind.OPEN,
    )
)


def _is_empty(nodes: Nodes) -> bool:
    return all(isinstance(node, Text) and not node.text.strip() for node in nodes)
