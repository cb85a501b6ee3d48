import pytest
from loadwatch_backend.evidence.profiles.known import Callers, own_functions
from loadwatch_backend.evidence.profiles.model import Function
from loadwatch_backend.evidence.profiles.tree import stacks_of

from backend.tests.evidence.profiles.made import go, profile

RUNTIME = Function(name="runtime.goexit", file="/usr/local/go/src/runtime/asm_amd64.s")
TRIMMED = Function(name="runtime.goexit", file="runtime/asm_amd64.s")


@pytest.mark.parametrize(
    ("name", "file", "whole", "trimmed"),
    [
        ("main.main", "/src/shop/main.go", True, True),
        ("shop/cart.(*Cart).Add", "/src/shop/cart/cart.go", True, True),
        ("example.com/shop/cart.Add", "example.com/shop/cart/cart.go", True, True),
        ("github.com/x/mysql.(*mysqlConn).readPacket", "github.com/x/mysql@v1.9.3/packets.go", False, False),
        ("github.com/x/y.F", "/root/go/pkg/mod/github.com/x/y@v1.0.0/f.go", False, False),
        ("github.com/x/y.F", "/src/shop/vendor/github.com/x/y/f.go", False, False),
        ("nameless", "", False, False),
        ("fib (app.py)", "app.py", True, True),
        ("dumps (json/__init__.py)", "/usr/lib/python3.11/json/__init__.py", False, False),
        ("get (requests/api.py)", "/venv/lib/python3.11/site-packages/requests/api.py", False, False),
    ],
)  # fmt: skip
def test_whose_a_function_is(name: str, file: str, whole: bool, trimmed: bool) -> None:
    one = Function(name=name, file=file)
    assert own_functions([RUNTIME, one]).tolist() == [False, whole]
    assert own_functions([TRIMMED, one]).tolist() == [False, trimmed]


def test_the_standard_library_is_nobodys_own_wherever_it_lies() -> None:
    assert own_functions([RUNTIME, Function(name="net/http.F", file="/usr/local/go/src/net/http/f.go")]).sum() == 0
    assert own_functions([TRIMMED, Function(name="net/http.F", file="net/http/f.go")]).sum() == 0


def test_the_callers_of_a_lock_in_a_real_profile() -> None:
    block = go("04-block-now")
    stacks = stacks_of(block, [block.default])
    names = [one.name for one in stacks.functions]
    callers = Callers(stacks)
    assert callers.of(names.index("sync.(*Mutex).Lock")) == "main.handler.hold"
    # One's own, and one that nobody of one's own has called.
    assert callers.of(names.index("main.handler.hold")) is None
    assert callers.of(names.index("runtime.main")) is None


def test_a_caller_is_the_nearest_and_has_most_of_it() -> None:
    def caller(*stacks: tuple[str, int]) -> str | None:
        found = stacks_of(profile([(stack, [value]) for stack, value in stacks]))
        return Callers(found).of([one.name for one in found.functions].index("encoding/json.M"))

    assert caller(("encoding/json.M;main.near;main.far", 5)) == "main.near"
    assert caller(("encoding/json.M;encoding/json.M;main.a", 5), ("encoding/json.M;main.b", 4)) == "main.a"
    assert caller(("encoding/json.M;main.a", 5), ("encoding/json.M;main.b", 5)) is None
    assert caller(("encoding/json.M", 6), ("encoding/json.M;main.b", 5)) is None
    assert caller(("main.a;encoding/json.M", 5)) is None
    assert caller(("encoding/json.M;main.a", 0)) is None
