import pytest
from loadwatch_formats.yaml_nodes import MAX_BYTES, YamlError, compose, is_null, read_mapping


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


def read(text: str, *, merge: bool = True) -> tuple[dict[str, str], list[tuple[int, str]]]:
    told: list[tuple[int, str]] = []
    root = compose(text)
    assert root is not None
    entries = read_mapping(
        root, "it", lambda node, text: told.append((node.start_mark.line + 1, text)), known=("a", "bee"), merge=merge
    )
    return {key: str(entry.value.value) for key, entry in entries.items()}, told


def test_all_that_is_wrong_with_a_mapping_is_told_and_left_out() -> None:
    assert read("a: 1\n[x]: 2\na: 3\nbea: 4\n") == (
        {"a": "1"},
        [
            (2, "a key of it must be a word, not a list"),
            (3, "'a' is given twice in it; the first is in line 1"),
            (4, "unknown key 'bea' in it; did you mean 'bee'? known keys: a, bee"),
        ],
    )
    assert read("- a\n") == ({}, [(1, "it must be a mapping of keys, not a list")])
    assert read("secret\n") == ({}, [(1, "it must be a mapping of keys, not a text")])
    assert read("null\n") == ({}, [])


def test_what_is_merged_in_stands_behind_what_is_written() -> None:
    text = "<<: [{a: 1}, {a: 2, bee: 3}]\nbee: 4\n"
    assert read(text) == ({"a": "1", "bee": "4"}, [])
    assert read(text, merge=False) == ({"bee": "4"}, [(1, "unknown key '<<' in it; known keys: a, bee")])
    assert read("<<: 1\na: 2\n") == ({"a": "2"}, [(1, "it must be a mapping of keys, not a text")])
