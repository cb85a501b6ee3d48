"""A collector, and a preset of AWS."""

from tests.adding.example import Edit, Example

SOURCES = "collectors/loadwatch_collectors/sources"

COLLECTOR = Example(
    kind="collector",
    most=2,
    names={"source": "entropy", "pack": "host"},
    new={
        f"{SOURCES}/entropy.py": '''"""The kernel's random numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

from loadwatch_collectors.collector import Collector, Sample, Source
from loadwatch_collectors.settings import option
from loadwatch_collectors.sources.procfs import read_text


@dataclass(frozen=True, slots=True, kw_only=True)
class EntropySettings:
    """Where the kernel tells."""

    path: str = option(help="The file.", default="/proc/sys/kernel/random/entropy_avail")


class EntropyCollector(Collector):
    """Reads one number."""

    def __init__(self, settings: EntropySettings) -> None:
        self._path = settings.path

    def collect(self) -> Sequence[Sample]:
        """Read it once."""
        return [Sample("node_entropy_available_bits", float(read_text(self._path)))]


ENTROPY = Source(
    name="entropy",
    help="Bits of the kernel's entropy pool.",
    settings=EntropySettings,
    build=EntropyCollector,
    packs=("host",),
)
''',
    },
    edits=[
        Edit(
            path=f"{SOURCES}/registry.py",
            before="from loadwatch_collectors.sources.freshness import",
            put="from loadwatch_collectors.sources.entropy import ENTROPY\n",
        ),
        Edit(path=f"{SOURCES}/registry.py", before="    TIMEOUTS,\n", put="    ENTROPY,\n"),
        Edit(
            path="packs/loadwatch_packs/host/pack.yml",
            before="  host:\n    node_cpu_seconds_total: ",
            put="  entropy:\n    node_entropy_available_bits: Bits of available entropy.\n",
        ),
    ],
    check="""
from pathlib import Path
from loadwatch_collectors.sources.registry import sources_by_name

Path("pool").write_text("256\\n")
source = sources_by_name()["entropy"]
(sample,) = source.build(source.settings(path="pool")).collect()
assert (sample.name, sample.value) == (source.metrics[0].name, 256)
""",
)

PRESET = Example(
    kind="preset of AWS",
    most=1,
    names={"pack": "aws-sqs", "preset": "sqs_fair"},
    new={
        "packs/loadwatch_packs/aws-sqs/presets/sqs_fair.yml": """title: Fair queues of SQS
source: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html
group: sqs
namespace: AWS/SQS
kind: sqs
dimensions: [QueueName]
permissions: [cloudwatch:GetMetricData, sqs:ListQueues, sqs:GetQueueAttributes]
metrics:
  - name: ApproximateNumberOfNoisyGroups
    statistics: [Maximum]
    unit: count
    help: Message groups that keep others waiting.
"""
    },
    edits=[
        Edit(
            path=f"{SOURCES}/aws/iam_actions.yml",
            before="  - {action: sqs:ListQueues}\n",
            put='  - {action: sqs:GetQueueAttributes, resources: ["sqs:{region}:{account}:*"]}\n',
        ),
    ],
    check="""
from loadwatch_collectors.sources.aws.iam import read_actions
from loadwatch_collectors.sources.aws.presets import choose_presets, read_preset_file, preset_metrics

assert "sqs_fair" in choose_presets(["sqs"])
assert "aws_sqs_approximate_number_of_noisy_groups_maximum" in {metric.name for metric in preset_metrics()}
assert read_actions().keys() >= set(read_preset_file("sqs_fair").permissions)
""",
)
