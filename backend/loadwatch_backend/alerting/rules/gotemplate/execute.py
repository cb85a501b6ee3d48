"""A tree and a value to text (text/template/exec.go), with the option `missingkey=zero`."""

from collections.abc import Mapping, Sequence

from loadwatch_backend.alerting.rules.gotemplate.builtins import Function
from loadwatch_backend.alerting.rules.gotemplate.formatting import (
    Structure,
    TemplateError,
    Value,
    field_of,
    format_value,
    truth,
    type_name,
)
from loadwatch_backend.alerting.rules.gotemplate.lex import place_of
from loadwatch_backend.alerting.rules.gotemplate.parse import (
    Action,
    Branch,
    Chain,
    Command,
    Constant,
    Dot,
    Field,
    Identifier,
    Invoke,
    Jump,
    Nil,
    Nodes,
    Operand,
    Pipeline,
    Template,
    Text,
    Variable,
)

MAX_STEPS = 200_000
"""Nodes, operands, and rounds of loops."""
MAX_CHARACTERS = 250_000
"""Characters of the output."""
MAX_WORK = 4_000_000
"""Characters and elements that functions are given and give, all of them together."""
MAX_VARIABLES = 200
"""Variables in scope at one place."""
MAX_TEMPLATE_DEPTH = 20
"""Bounds of one expansion: a loop, a template that calls itself or a text that doubles itself must not hold up the
evaluation of rules."""

_NOTHING = object()


class _BreakSignal(Exception):
    pass


class _ContinueSignal(Exception):
    pass


def execute(template: Template, data: Value, functions: Mapping[str, Function], prelude: Mapping[str, Value]) -> str:
    """The text of a template; `prelude` are variables that it finds defined, by name with the sign.

    Raises:
        TemplateError: says what went wrong and where.
    """
    execution = _Execution(template, functions)
    try:
        execution.walk_all(template.root, data, [("$", data), *prelude.items()], 0)
    except RecursionError as error:
        raise TemplateError("the template is nested too deeply") from error
    return "".join(execution.output)


_Scope = list[tuple[str, Value]]


class _Execution:
    def __init__(self, template: Template, functions: Mapping[str, Function]) -> None:
        self._template = template
        self._functions = functions
        self._steps = 0
        self._work = 0
        self._characters = 0
        self.output: list[str] = []

    def walk_all(self, nodes: Nodes, dot: Value, scope: _Scope, depth: int) -> None:
        for node in nodes:
            self._step()
            match node:
                case Text(text):
                    self._write(text)
                case Action(pipeline):
                    value = self._pipeline(pipeline, dot, scope)
                    if not pipeline.variables:
                        self._write("<no value>" if value is None else format_value(value))
                case Branch(kind="range"):
                    self._range(node, dot, scope, depth)
                case Branch():
                    self._if_or_with(node, dot, scope, depth)
                case Invoke():
                    self._invoke(node, dot, scope, depth)
                case Jump(kind):
                    raise _BreakSignal if kind == "break" else _ContinueSignal

    def _step(self, count: int = 1) -> None:
        self._steps += count
        if self._steps > MAX_STEPS:
            raise TemplateError(f"the template takes more than {MAX_STEPS} steps")

    def _weigh(self, values: Sequence[Value], more: int = 0) -> None:
        # Each value counts by itself: what a list holds was given by someone else, and is counted where it is used.
        self._work += more + sum([len(value) for value in values if isinstance(value, (str, list, tuple, Mapping))])  # pyright: ignore[reportUnknownArgumentType] - any value
        if self._work > MAX_WORK:
            raise TemplateError(f"the functions of the template work on more than {MAX_WORK} characters")

    def _write(self, text: str) -> None:
        self._characters += len(text)
        if self._characters > MAX_CHARACTERS:
            raise TemplateError(f"the text is longer than {MAX_CHARACTERS} characters")
        self.output.append(text)

    def _if_or_with(self, node: Branch, dot: Value, scope: _Scope, depth: int) -> None:
        mark = len(scope)
        value = self._pipeline(node.pipeline, dot, scope)
        if truth(value):
            self.walk_all(node.body, value if node.kind == "with" else dot, scope, depth)
        else:
            self.walk_all(node.otherwise, dot, scope, depth)
        del scope[mark:]

    def _range(self, node: Branch, dot: Value, scope: _Scope, depth: int) -> None:
        mark = len(scope)
        value = self._pipeline(node.pipeline, dot, scope)
        entries = self._entries(node, value)
        self._step(len(entries))
        inner = len(scope)
        try:
            for key, element in entries:
                self._bind(node.pipeline, scope, key, element)
                try:
                    self.walk_all(node.body, element, scope, depth)
                except _ContinueSignal:
                    pass
                finally:
                    del scope[inner:]
        except _BreakSignal:
            pass
        if not entries:
            self.walk_all(node.otherwise, dot, scope, depth)
        del scope[mark:]

    def _entries(self, node: Branch, value: Value) -> Sequence[tuple[Value, Value]]:
        match value:
            case None:
                return ()
            case Mapping():
                return sorted(value.items())  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] - any value
            case list() | tuple():
                return list(enumerate(value))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] - any value
            case int() if not isinstance(value, bool):
                if len(node.pipeline.variables) > 1:
                    raise self._error(node.pipeline, f"can't use {value} to iterate over more than one variable")
                if value > MAX_STEPS:
                    raise self._error(node.pipeline, f"a range over {value} takes more than {MAX_STEPS} steps")
                return [(place, place) for place in range(value)]
            case _:
                raise self._error(node.pipeline, f"range can't iterate over {format_value(value)}")

    @staticmethod
    def _bind(pipeline: Pipeline, scope: _Scope, key: Value, element: Value) -> None:
        names = pipeline.variables
        values = {0: (), 1: (element,), 2: (key, element)}[len(names)]
        for name, value in zip(names, values, strict=True):
            if pipeline.assigns:
                _assign(scope, name, value)
            else:
                # Above the whole value, which the pipeline itself has put there under the same name.
                scope.append((name, value))

    def _invoke(self, node: Invoke, dot: Value, scope: _Scope, depth: int) -> None:
        if node.name not in self._template.defined:
            raise TemplateError(f"template {node.name!r} not defined ({place_of(self._template.text, node.position)})")
        if depth >= MAX_TEMPLATE_DEPTH:
            raise TemplateError(f"templates call each other more than {MAX_TEMPLATE_DEPTH} levels deep")
        value = None if node.pipeline is None else self._pipeline(node.pipeline, dot, scope)
        self.walk_all(self._template.defined[node.name], value, [("$", value)], depth + 1)

    # Values -----------------------------------------------------------------------------------------------------------

    def _pipeline(self, pipeline: Pipeline, dot: Value, scope: _Scope) -> Value:
        value: Value = _NOTHING
        try:
            for command in pipeline.commands:
                value = self._command(command, dot, scope, value)
        except _Placed:
            raise
        except TemplateError as error:
            raise self._error(pipeline, str(error)) from error
        for name in pipeline.variables:
            if pipeline.assigns:
                _assign(scope, name, value)
            elif len(scope) >= MAX_VARIABLES:
                raise self._error(pipeline, f"the template has more than {MAX_VARIABLES} variables at one place")
            else:
                scope.append((name, value))
        return value

    def _error(self, pipeline: Pipeline, message: str) -> TemplateError:
        return _Placed(f"{message} ({place_of(self._template.text, pipeline.position)})")

    def _command(self, command: Command, dot: Value, scope: _Scope, final: Value) -> Value:
        first, arguments = command.operands[0], command.operands[1:]
        if isinstance(first, Identifier):
            return self._function(first.name, arguments, dot, scope, final)
        if isinstance(first, (Field, Variable, Chain)) and first.names:
            receiver = self._receiver(first, dot, scope)
            for name in first.names[:-1]:
                receiver = _plain(field_of(receiver, name))
            return self._member(receiver, first.names[-1], arguments, dot, scope, final)
        if isinstance(first, Nil):
            raise TemplateError("nil is not a command")
        if arguments or final is not _NOTHING:
            raise TemplateError(f"can't give argument to non-function {first}")
        return self._operand(first, dot, scope)

    def _receiver(self, node: Field | Variable | Chain, dot: Value, scope: _Scope) -> Value:
        match node:
            case Field():
                return dot
            case Variable(name):
                return _lookup(scope, name)
            case Chain(Nil()):
                raise TemplateError("indirection through explicit nil")
            case Chain(operand):
                return self._operand(operand, dot, scope)

    def _member(
        self, receiver: Value, name: str, arguments: Sequence[Operand], dot: Value, scope: _Scope, final: Value
    ) -> Value:
        found = field_of(receiver, name)
        given = [self._operand(argument, dot, scope) for argument in arguments]
        if final is not _NOTHING:
            given.append(final)
        self._weigh(given)
        if callable(found) and not isinstance(found, Structure):
            try:
                return found(*given)
            except TypeError as error:
                raise TemplateError(f"error calling {name}: {error}") from error
        if given:
            raise TemplateError(f"{name} is not a method but has arguments")
        return found

    def _function(self, name: str, operands: Sequence[Operand], dot: Value, scope: _Scope, final: Value) -> Value:
        function = self._functions[name]
        if name in ("and", "or"):
            if not operands and final is _NOTHING:
                raise TemplateError(f"wrong number of args for {name}: want at least 1 got 0")
            value: Value = None
            for operand in operands:
                value = self._operand(operand, dot, scope)
                if truth(value) == (name == "or"):
                    return value
            return value if final is _NOTHING else final
        arguments = [self._operand(operand, dot, scope) for operand in operands]
        if final is not _NOTHING:
            arguments.append(final)
        self._weigh(arguments)
        if function.work is not None and all(isinstance(one, str) for one in arguments):
            self._weigh((), function.work(*arguments))
        result = function(name, arguments)
        self._weigh((result,))
        return result

    def _operand(self, operand: Operand, dot: Value, scope: _Scope) -> Value:
        self._step()
        match operand:
            case Constant(value):
                return value
            case Nil():
                return None
            case Dot():
                return dot
            case Field() | Variable() | Chain():
                value = self._receiver(operand, dot, scope)
                for name in operand.names:
                    value = _plain(field_of(value, name))
                return value
            case Identifier(name):
                return self._function(name, (), dot, scope, _NOTHING)
            case Pipeline():
                return self._pipeline(operand, dot, scope)


class _Placed(TemplateError):
    """Says where already."""


def _plain(value: Value) -> Value:
    """A method without arguments is called where its value is needed."""
    if callable(value) and not isinstance(value, Structure):
        try:
            return value()
        except TypeError as error:
            raise TemplateError(f"a method of type {type_name(value)} needs arguments") from error
    return value


def _lookup(scope: _Scope, name: str) -> Value:
    for known, value in reversed(scope):
        if known == name:
            return value
    raise TemplateError(f"undefined variable: {name}")


def _assign(scope: _Scope, name: str, value: Value) -> None:
    for place in range(len(scope) - 1, -1, -1):
        if scope[place][0] == name:
            scope[place] = (name, value)
            return
    raise TemplateError(f"undefined variable: {name}")
