"""A pack, an endpoint, a notifier and an importer."""

from tests.adding.example import Edit, Example

SERVER = "backend/loadwatch_backend"

PACK = Example(
    kind="pack: panels, resources, findings of a technology",
    most=0,
    names={"pack": "entropy"},
    new={
        "packs/loadwatch_packs/entropy/pack.yml": """pack: entropy
title: {en: Entropy, ja: エントロピー}
there_when: [node_entropy_available_bits]
groups:
  - id: entropy
    title: {en: Entropy, ja: エントロピー}
    panels:
      - id: entropy
        title: {en: Entropy, ja: エントロピー}
        signals:
          - id: entropy
            title: {en: Available, ja: 利用可能}
            help: {en: Bits of the kernel's entropy pool., ja: カーネルのエントロピープールのビット数。}
            unit: count
            better: higher
            expr: min by (instance) (node_entropy_available_bits)
            legend: '{{instance}}'
resources:
  - id: entropy
    title: {en: Entropy that is used, ja: 使用済みエントロピー}
    unit: count
    used: max by (job, instance) (node_entropy_pool_size_bits - node_entropy_available_bits)
    limit: max by (job, instance) (node_entropy_pool_size_bits)
    legend: '{{instance}}'
""",
    },
    edits=[],
    check="""
from loadwatch_backend.catalogue.packs.library import shipped_catalogue

catalogue = shipped_catalogue()
(panel,) = [panel for group in catalogue.groups for panel in group.panels if panel.id == "entropy"]
assert panel.title.en and panel.title.ja
(resource,) = [one for one in catalogue.resources if one.id == "entropy"]
assert resource.finding_id == "entropy-exhausted"
""",
)

ENDPOINT = Example(
    kind="endpoint",
    most=1,
    names={"wing": "app", "slice": "jobs"},
    new={
        f"{SERVER}/app/jobs/__init__.py": '"""The jobs that samples are of."""\n',
        f"{SERVER}/app/jobs/schemas.py": '''"""Jobs on the wire."""

from loadwatch_backend.core.schemas import Schema


class JobList(Schema):
    """Names of jobs, sorted."""

    jobs: list[str]
''',
        f"{SERVER}/app/jobs/service.py": '''"""Which jobs there are."""

from loadwatch_backend.core.schemas import LAST_MILLISECOND
from loadwatch_backend.series.store.port import Reader


def list_jobs(store: Reader) -> list[str]:
    """All of them, by name."""
    return sorted(store.label_values("job", [], 0, LAST_MILLISECOND))
''',
        f"{SERVER}/app/jobs/endpoints.py": '''"""Jobs over HTTP."""

from typing import Annotated

from fastapi import APIRouter, Depends

from loadwatch_backend.app.jobs.schemas import JobList
from loadwatch_backend.app.jobs.service import list_jobs
from loadwatch_backend.core.schemas import PROBLEM_RESPONSES
from loadwatch_backend.core.services import service
from loadwatch_backend.series.store.port import SampleStore

router = APIRouter(prefix="/api/jobs", tags=["jobs"], responses=PROBLEM_RESPONSES)


@router.get("", summary="List jobs")
def read_jobs(store: Annotated[SampleStore, Depends(service(SampleStore))]) -> JobList:
    """Names of all jobs that have samples."""
    return JobList(jobs=list_jobs(store))
''',
    },
    edits=[
        Edit(
            path=f"{SERVER}/app/api.py",
            before="from loadwatch_backend.core.middleware import",
            put="from loadwatch_backend.app.jobs.endpoints import router as jobs_router\n",
        ),
        Edit(path=f"{SERVER}/app/api.py", before="    (live_router, ", put="    (jobs_router, Scope.ADMIN),\n"),
    ],
    check="""
from loadwatch_backend.app.application import create_app
from loadwatch_backend.core.settings import Settings

assert "/api/jobs" in create_app(Settings()).openapi()["paths"]
""",
)

NOTIFIER = Example(
    kind="notifier",
    most=2,
    names={"vendor": "zulip"},
    new={
        f"{SERVER}/alerting/notify/senders/zulip.py": '''"""Zulip: a message to a stream."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import orjson

from loadwatch_backend.alerting.notify.record import Flag, SecretUrl
from loadwatch_backend.alerting.notify.senders.webhook import judge, post_json, shown_host
from loadwatch_backend.alerting.notify.senders.model import HttpIntegration, Message, Result, SendContext, Sender
from loadwatch_backend.core.texts.words import Words


@dataclass(frozen=True, slots=True, kw_only=True)
class ZulipIntegration(HttpIntegration):
    """A bot's address."""

    send_resolved: Flag = True
    url: SecretUrl


class ZulipSender(Sender[ZulipIntegration]):
    """Posts the subject."""

    kind: ClassVar[str] = "zulip"
    title: ClassVar[Words] = Words("Zulip", "Zulip")
    record = ZulipIntegration
    globals: ClassVar[Mapping[str, str]] = {"http_config": "http_config", "zulip_url": "url"}

    def target(self, own: ZulipIntegration) -> str:
        """The host."""
        return shown_host(own.url.reveal())

    def send(self, own: ZulipIntegration, message: Message, context: SendContext, seconds: float) -> Result:
        """Post once."""
        body = orjson.dumps({"content": message.subject})
        return judge(post_json(own.url.reveal(), body, {}, own.http, context, seconds), context.clock())

''',
    },
    edits=[
        Edit(
            path=f"{SERVER}/alerting/notify/senders/registry.py",
            before="\nSENDERS: ",
            put="from loadwatch_backend.alerting.notify.senders.zulip import ZulipSender\n",
        ),
        Edit(path=f"{SERVER}/alerting/notify/senders/registry.py", before=", EmailSender())", put=", ZulipSender()"),
    ],
    check="""
from loadwatch_backend.alerting.notify.file.configuration import parse_configuration
from loadwatch_backend.alerting.notify.outbox.outcomes import target_of

text = '''
global: {zulip_url: "https://zulip.example.org/api"}
route: {receiver: a}
receivers: [{name: a, zulip_configs: [{send_resolved: false}]}]
'''
(made,) = parse_configuration(text, "n.yml").receivers["a"].integrations
assert (made.id, target_of(made)) == ("zulip-0", "https://zulip.example.org/***")
""",
)

IMPORTER = Example(
    kind="importer",
    most=1,
    names={"tool": "siege"},
    new={
        f"{SERVER}/runs/importers/tools/siege.py": '''"""siege: its printed summary."""

from collections import Counter
from collections.abc import Sequence

from loadwatch_formats.outcomes import Outcome

from loadwatch_backend.runs.importers.importer import Importer, Part, Sink
from loadwatch_backend.runs.importers.outcomes import figures
from loadwatch_backend.evidence.records.model import Latency


def read_siege(parts: Sequence[Part], sink: Sink) -> None:
    """Transactions and the time they took."""
    count = int(parts[0].head.split(b"Transactions:")[1].split()[0])
    sink.aggregate(figures(outcomes=Counter({Outcome.OK: count}), duration_seconds=None, latency=Latency()))


def _recognise(head: bytes) -> int:
    return 90 if b"Transactions:" in head and b"Availability:" in head else 0


SIEGE = Importer("siege-text", "siege's summary", _recognise, read_siege)
''',
    },
    edits=[
        Edit(
            path=f"{SERVER}/runs/importers/registry.py",
            before="from loadwatch_backend.runs.importers.tools.vegeta import",
            put="from loadwatch_backend.runs.importers.tools.siege import SIEGE\n",
        ),
        Edit(path=f"{SERVER}/runs/importers/registry.py", before="    ARTILLERY,\n", put="    SIEGE,\n"),
    ],
    check="""
from loadwatch_backend.runs.importers.importer import Part
from loadwatch_backend.runs.importers.pipeline import importer_named, recognise_part
from loadwatch_backend.runs.importers.registry import IMPORTERS

part = Part(name="out.txt", head=b"Transactions: 12 hits\\nAvailability: 100.00 %\\n", open=None, account=None)
assert recognise_part(IMPORTERS, part) is importer_named(IMPORTERS, "siege-text")
""",
)
