"""The services of a run, put together."""

from dataclasses import dataclass

from loadwatch_backend.catalogue.packs.library import Library
from loadwatch_backend.core.periodic import Periodic
from loadwatch_backend.evidence.files.service import EvidenceFiles
from loadwatch_backend.evidence.records.figures import figures_of
from loadwatch_backend.findings.opinions.service import Opinions
from loadwatch_backend.findings.service import Findings
from loadwatch_backend.runs.analyses import CLOSE_SECONDS, Analyses
from loadwatch_backend.runs.analysis.analyst import Analyst
from loadwatch_backend.runs.annotations.service import AnnotationService
from loadwatch_backend.runs.archive.archives import Archives
from loadwatch_backend.runs.catch_up import DUE_SECONDS, CatchUp
from loadwatch_backend.runs.importers.reader import ProcessReader
from loadwatch_backend.runs.imports.imports import Imports
from loadwatch_backend.runs.imports.places import Places
from loadwatch_backend.runs.imports.results import Results
from loadwatch_backend.runs.registry.configuration import Configuration
from loadwatch_backend.runs.registry.deletion import PinnedWindows
from loadwatch_backend.runs.registry.registry import Registry
from loadwatch_backend.runs.registry.repository import all_tokens
from loadwatch_backend.runs.reviews.actions.scorer import ActionScorer
from loadwatch_backend.runs.reviews.reviews import Reviews
from loadwatch_backend.runs.reviews.shares import Shares
from loadwatch_backend.runs.snapshots.take import Snapshotter
from loadwatch_backend.series.foundation import Foundation
from loadwatch_backend.series.ingest.service import IngestService


@dataclass(frozen=True, slots=True, kw_only=True)
class RunServices:
    """What the endpoints call; each has a file of its own."""

    registry: Registry
    imports: Imports
    configuration: Configuration
    reviews: Reviews
    scorer: ActionScorer
    shares: Shares
    archives: Archives
    analyses: Analyses
    catch_up: Periodic
    pins: PinnedWindows

    def close(self) -> None:
        """Wait for the import and the analysis under way."""
        self.catch_up.close(CLOSE_SECONDS)
        self.imports.close()
        self.analyses.close()


def open_runs(
    ground: Foundation,
    library: Library,
    findings: Findings,
    opinions: Opinions,
    evidence_files: EvidenceFiles,
    annotations: AnnotationService,
    ingest: IngestService,
) -> RunServices:
    """Mend what a killed server left, then put the services together."""
    settings, relational, store, clock = ground.settings, ground.relational, ground.store, ground.clock
    places = Places(settings.data)
    places.mend(lambda: all_tokens(relational))
    pins = PinnedWindows(relational, clock)
    analyses = Analyses(relational, places, Analyst(ground.engine, clock, figures_of, findings, library), clock)
    configuration = Configuration(relational, Snapshotter(ground.engine, library), clock)
    registry = Registry(
        relational,
        places,
        analyses,
        configuration,
        opinions,
        clock,
        settings.retention_ms,
        evidence_files,
        annotations,
    )
    scorer = ActionScorer(relational, analyses, clock)
    reader = ProcessReader()
    services = RunServices(
        analyses=analyses,
        catch_up=Periodic("run-catch-up", CatchUp(relational, analyses, clock, scorer.tick).turn, DUE_SECONDS),
        registry=registry,
        imports=Imports(
            places=places,
            results=Results(
                relational=relational,
                places=places,
                analyses=analyses,
                configuration=configuration,
                store=store,
                clock=clock,
            ),
            reader=reader,
            clock=clock,
        ),
        configuration=configuration,
        reviews=Reviews(relational, analyses, clock),
        scorer=scorer,
        shares=Shares(relational, clock),
        archives=Archives(
            relational=relational,
            places=places,
            store=store,
            registry=registry,
            analyses=analyses,
            pins=pins,
            evidence_files=evidence_files,
            annotations=annotations,
            admit=ingest.admit,
            clock=clock,
        ),
        pins=pins,
    )
    ground.stack.callback(services.close)
    ground.stack.callback(reader.close)
    return services
