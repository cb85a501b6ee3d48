"""A template is text of an editor: it writes little, works little, and ends."""

import pytest
from loadwatch_backend.alerting.rules.template import TemplateContext, TemplateError, expand


def _expand(text: str) -> str:
    samples = [({"job": "a"}, 1.0)]
    return expand(text, TemplateContext(labels={"job": "api"}, value=1.0, query=lambda _: samples))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{{ $x := "aaaa" }}{{ range 60 }}{{ $x = print $x $x }}{{ end }}', "longer than 250000 characters"),
        ('{{ $x := "a" }}{{ range 60 }}{{ $x = printf "%s%s" $x $x }}{{ end }}', "longer than 250000 characters"),
        ("{{ $x := args 1 }}{{ range 60 }}{{ $x = args $x $x }}{{ end }}{{ $x }}", "longer than 250000 characters"),
        ('{{ $x := args "" }}{{ range 60 }}{{ $x = args $x $x }}{{ end }}{{ $x }}', "longer than 250000 characters"),
        ('{{ printf "' + "%10000d" * 60 + '" ' + "1 " * 60 + "}}", "longer than 250000 characters"),
        ('{{ $x := printf "%10000d" 1 }}{{ reReplaceAll " " $x $x }}', "longer than 250000 characters"),
        (
            '{{ $x := printf "%10000d" 1 }}{{ range 100000 }}{{ $y := toUpper $x }}{{ end }}',
            "more than 4000000 characters",
        ),
        (
            '{{ $x := printf "%1000d" 1 }}{{ reReplaceAll " *" "' + "$x" * 5_000 + '" $x }}',
            "more than 4000000 characters",
        ),
        ("{{ range 100000 }}{{ range 100000 }}{{ end }}{{ end }}", "more than 200000 steps"),
        ("{{ range 190000 }}{{ print " + "(print) " * 500 + "}}{{ end }}", "more than 200000 steps"),
        ("".join(f"{{{{ $x{number} := 1 }}}}" for number in range(300)), "more than 200 variables"),
        ('{{ range 1000 }}{{ $x := query "up" }}{{ end }}', "more than 100 queries"),
        (r'{{ match "(?i)\\pL{300}" "a" }}', "at most 1 MiB"),
        ("{{ if true }}" + "{{ else if true }}" * 3_000 + "{{ end }}", "nested"),
        ("{{ 0x1p99999 }}", "illegal number syntax"),
        ("{{ 1e999 }}", "illegal number syntax"),
    ],
)
def test_what_a_template_may_do_is_bounded(text: str, message: str) -> None:
    with pytest.raises(TemplateError, match=message):
        _expand(text)


def test_numbers_of_thousands_of_digits_in_a_layout_are_only_wide() -> None:
    assert len(_expand('{{ printf "%' + "9" * 5_000 + 'd" 1 }}')) == 10_000
    assert _expand('{{ printf "%[' + "9" * 5_000 + ']d" 1 }}') == "%!d(BADINDEX)"
