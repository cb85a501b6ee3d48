import pytest
from loadwatch_formats.yaml_nodes import MAX_BYTES, YamlError, compose, is_null


@pytest.mark.parametrize(
    ("content", "line", "column", "text"),
    [
        (b"a: 1\nb: \xff\n", 2, 4, "byte 0xff is not UTF-8"),
        (b"a: 1\n b: [\n", 2, 3, "this is not YAML: "),
        ("a: '1\n", 2, 1, "this is not YAML: while scanning a quoted scalar: "),
        ("route: [", 1, 1, "this is not YAML: "),
        ("a: *nowhere\n", 1, 4, "this is not YAML: found undefined alias"),
        ("a: \x00\n", 1, 1, "this is not YAML: "),
        ("a: 1\n---\nb: 2\n", 3, 1, "a second document begins here"),
        ("a" * (MAX_BYTES + 1), 1, 1, "the file has more than 4 MiB"),
        ("- " * 100_000, 1, 201, "the document is nested too deeply"),
        ("- &a [*a]\n", 1, 1, "with its aliases written out the document has more than 1000000 values"),
        ("[" * 100_000, 1, 101, "the document is nested too deeply"),
    ],
)
def test_what_is_no_document_is_told_with_its_place(content: bytes | str, line: int, column: int, text: str) -> None:
    with pytest.raises(YamlError) as caught:
        compose(content)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert caught.value.text.startswith(text)


def test_an_empty_document_has_no_root() -> None:
    assert compose("") is None
    assert compose(b"\xef\xbb\xbf# nothing\n") is None
    root = compose("null")
    assert root is not None
    assert is_null(root)
