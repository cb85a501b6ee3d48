import pytest
from loadwatch_collectors.collector import Sample
from loadwatch_collectors.config import AgentConfig, load_config
from loadwatch_collectors.errors import ConfigError
from loadwatch_collectors.settings_loader import parse_document
from loadwatch_collectors.sources.registry import sources_by_name


def load(text: str) -> AgentConfig:
    return load_config(parse_document(text, "loadwatch.yml"), sources_by_name())


def test_limits_stand_beside_what_they_limit() -> None:
    config = load("targets:\n  - job: web\n    limits:\n      eth0: 100Mbit/s\n      redis: 1 core\n")
    (item,) = config.collectors
    collector = item.build()
    assert list(collector.collect()) == [
        Sample("declared_limit", 12_500_000, (("resource", "eth0"), ("unit", "bytes_per_second"))),
        Sample("declared_limit", 1, (("resource", "redis"), ("unit", "cores"))),
    ]
    assert collector.missing_privileges() == ()
    collector.close()


@pytest.mark.parametrize(
    ("block", "says"),
    [
        (
            "{eth0: 100Mbit/s,\n      eth1: 100Mb/s}",
            r"yml:4: targets\[0\]\.limits\.eth1: '100Mb/s' is not a limit; write",
        ),
        ("{eth0: 100}", r"yml:3: targets\[0\]\.limits\.eth0: '100' is not a limit"),
        ("{eth0: [1]}", r"yml:3: targets\[0\]\.limits\.eth0 must be a limit, not a list"),
        ("{eth0: 1 core, eth0: 2 cores}", r"yml:3: .*eth0"),
        ("{}", r"yml:3: targets\[0\]\.limits: give between 1 and 32 limits"),
        ("", r"yml:3: targets\[0\]\.limits: give between 1 and 32 limits"),
        ("[a]", r"yml:3: targets\[0\]\.limits\[0\] must be a mapping"),
        ("{'a\"b': 1 core}", r"yml:3: .* cannot be the name of a limit"),
        ("{" + ", ".join(f"r{n}: 1 core" for n in range(33)) + "}", r"yml:3: .*between 1 and 32"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(block: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        load(f"targets:\n  - job: web\n    limits: {block}\n")
