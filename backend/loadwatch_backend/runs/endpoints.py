"""Runs over HTTP."""

from pathlib import Path as FilePath
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import FileResponse, StreamingResponse

from loadwatch_backend.access.endpoints import Actor
from loadwatch_backend.access.principal import PrincipalKind, Scope
from loadwatch_backend.core.schemas import PROBLEM_RESPONSES
from loadwatch_backend.core.services import REPORTS, announced_size, request_body, service
from loadwatch_backend.evidence.files.schemas import MOST_FILES, FileId
from loadwatch_backend.findings.schemas import FindingsAgain, MarkedOut, MarkIn, MarkList
from loadwatch_backend.runs.analysis.schemas import FiguresOut, PercentilesOut
from loadwatch_backend.runs.archive.archives import Chosen
from loadwatch_backend.runs.fields import ID_PATTERN
from loadwatch_backend.runs.reviews.schemas import (
    Meeting,
    MeetingIn,
    ReviewHistory,
    ReviewIn,
    ReviewOut,
    ShareIn,
    ShareList,
    ShareOut,
)
from loadwatch_backend.runs.schemas import (
    Deletion,
    ImportJob,
    ImportRequest,
    RunFacets,
    RunFinish,
    RunIn,
    RunList,
    RunOut,
    RunPatch,
    RunProgress,
    RunQuery,
    SecondsOut,
)
from loadwatch_backend.runs.service import RunServices
from loadwatch_backend.runs.snapshots import ConfigurationDifference, SnapshotList

router = APIRouter(prefix="/api", tags=["runs"], responses=PROBLEM_RESPONSES)

Id = Annotated[str, Path(pattern=ID_PATTERN, description="A run's id.")]


Services = Annotated[RunServices, Depends(service(RunServices))]


# Registry -------------------------------------------------------------------------------------------------------------


@router.get("/runs", summary="List runs")
def list_runs(services: Services, asked: Annotated[RunQuery, Query()]) -> RunList:
    """Runs that match all filters."""
    return services.registry.list(asked)


@router.get("/runs/facets", summary="List values to filter runs by")
def list_run_facets(services: Services) -> RunFacets:
    """Scenarios, tools, tags, branches, authors and parameters in use."""
    return services.registry.facets()


@router.post("/runs", status_code=201, summary="Begin a run")
def create_run(services: Services, body: RunIn) -> RunOut:
    """Register a run that begins now, or began while the server was away; the same id again changes nothing."""
    return services.registry.create(body)


@router.get("/runs/{run_id}", summary="Read a run")
def read_run(services: Services, run_id: Id) -> RunOut:
    """One run with all that is known of it."""
    return services.registry.read(run_id)


@router.patch("/runs/{run_id}", summary="Change a run")
def update_run(services: Services, run_id: Id, body: RunPatch) -> RunOut:
    """Change the fields given and keep the others; figures follow a new steady window and new thresholds."""
    return services.registry.update(run_id, body)


@router.delete("/runs/{run_id}", status_code=204, summary="Delete a run")
def delete_run(services: Services, run_id: Id) -> None:
    """Delete a run with its records, snapshots and reviews for good."""
    services.registry.delete(run_id)


@router.get("/runs/{run_id}/deletion", summary="Read what deleting a run removes")
def read_run_deletion(services: Services, run_id: Id) -> Deletion:
    """What would go."""
    return services.registry.deletion(run_id)


@router.post("/runs/{run_id}/progress", status_code=204, summary="Report a run's progress")
def report_run_progress(services: Services, run_id: Id, body: RunProgress) -> None:
    """A sign of life."""
    services.registry.progress(run_id, body)


@router.post("/runs/{run_id}/finish", summary="End a run")
def finish_run(services: Services, run_id: Id, body: RunFinish) -> RunOut:
    """The run has ended, well or not; the same end again changes nothing."""
    return services.registry.finish(run_id, body)


@router.put("/runs/{run_id}/baseline", summary="Pin a run as its scenario's baseline")
def pin_baseline(services: Services, run_id: Id) -> RunOut:
    """Takes the place of the one pinned before."""
    return services.registry.pin(run_id, pinned=True)


@router.delete("/runs/{run_id}/baseline", summary="Unpin a baseline")
def unpin_baseline(services: Services, run_id: Id) -> RunOut:
    """The scenario has no baseline then."""
    return services.registry.pin(run_id, pinned=False)


# Findings -------------------------------------------------------------------------------------------------------------


@router.get("/findings/marks", summary="List muted and wrong findings")
def list_marks(services: Services) -> MarkList:
    """The newest first."""
    return services.registry.marks()


@router.post("/findings/marks", status_code=201, summary="Mute a finding, or mark it wrong")
def create_mark(services: Services, body: MarkIn, actor: Actor) -> MarkedOut:
    """Without a run: mute it on targets with all of the labels. With a run: its finding of this key is wrong, and why.

    Both are still found and kept, and no page leads with them.
    """
    return services.registry.mark(body, actor.author(body.author))


@router.delete("/findings/marks/{mark_id}", status_code=204, summary="Take a mute or a mark back")
def delete_mark(services: Services, mark_id: Annotated[int, Path(ge=1, le=2**53)]) -> None:
    """The finding counts again."""
    services.registry.take_back(mark_id)


@router.post("/runs/{run_id}/findings", summary="Compute a run's findings again")
@REPORTS.endpoint
def find_again(
    services: Services,
    run_id: Id,
    keep: Annotated[bool, Query(description="Say from now on what is found now.")] = False,
) -> FindingsAgain:
    """By this version of the engine, beside what was said; nothing changes unless `keep` is given."""
    return services.analyses.find_again(run_id, keep=keep)


# Figures --------------------------------------------------------------------------------------------------------------


@router.get("/runs/{run_id}/seconds", summary="Read a run's per-second series")
@REPORTS.endpoint
def read_run_seconds(
    services: Services, run_id: Id, max_points: Annotated[int, Query(ge=10, le=10_000)] = 600
) -> SecondsOut:
    """For charts; spikes survive the reduction."""
    return services.registry.seconds(run_id, max_points)


@router.get("/runs/{run_id}/figures", summary="Read a run's figures over a window")
@REPORTS.endpoint
def read_run_figures(
    services: Services,
    run_id: Id,
    from_seconds: Annotated[float, Query(ge=0)],
    to_seconds: Annotated[float, Query(gt=0)],
) -> FiguresOut:
    """Exact figures over any part of the run."""
    return services.registry.figures(run_id, from_seconds, to_seconds)


@router.get("/runs/{run_id}/percentiles", summary="Read any percentiles of a run")
@REPORTS.endpoint
def read_run_percentiles(
    services: Services,
    run_id: Id,
    percentile: Annotated[
        list[Annotated[str, Query(max_length=20)]], Query(min_length=1, max_length=8, examples=[["p70", "p99.9"]])
    ],
) -> PercentilesOut:
    """Of the run and of its endpoints: exact from single requests, otherwise with bounds, or absent with the reason."""
    return services.registry.percentiles(run_id, percentile)


@router.get("/runs/{run_id}/records.parquet", summary="Read a run's records", response_class=FileResponse)
def read_run_records(services: Services, run_id: Id) -> FileResponse:
    """Every request of the run, as Parquet."""
    path: FilePath = services.registry.records(run_id)
    return FileResponse(
        path,
        media_type="application/vnd.apache.parquet",
        filename=f"{run_id}.parquet",
        headers={"Content-Encoding": "identity"},
    )


# Results --------------------------------------------------------------------------------------------------------------


@router.post(
    "/imports",
    status_code=202,
    summary="Import a result file as a new run",
    openapi_extra={"requestBody": {"content": {"application/octet-stream": {}}, "required": True}},
)
async def import_result(services: Services, request: Request, asked: Annotated[ImportRequest, Query()]) -> ImportJob:
    """Send the file as the body, plain, gzip or zstd; the job tells how far the import is."""
    return await services.imports.receive(asked, request_body(request), announced_size(request))


@router.get("/imports/{import_id}", summary="Read how far an import is")
def read_import(services: Services, import_id: Annotated[str, Path(max_length=64)]) -> ImportJob:
    """Known until an hour after its end."""
    return services.imports.read(import_id)


@router.delete("/imports/{import_id}", summary="Cancel an import")
def cancel_import(services: Services, import_id: Annotated[str, Path(max_length=64)]) -> ImportJob:
    """Nothing of it is kept. One whose run is there already is not undone: its state tells."""
    return services.imports.cancel(import_id)


# Configuration --------------------------------------------------------------------------------------------------------


@router.get("/runs/{run_id}/snapshots", summary="Read a run's configuration snapshots")
def read_run_snapshots(
    services: Services,
    run_id: Id,
    everything: Annotated[bool, Query(description="Every variable, also the unimportant ones.")] = False,
) -> SnapshotList:
    """The configuration of all targets before and after the run."""
    return services.configuration.snapshots(run_id, everything=everything)


@router.get("/runs/{run_id}/difference", summary="Compare a run's configuration with another's")
def read_run_difference(
    services: Services,
    run_id: Id,
    base: Annotated[str | None, Query(pattern=ID_PATTERN, description="The scenario's baseline by default.")] = None,
) -> ConfigurationDifference:
    """What was changed on purpose comes first."""
    return services.configuration.difference(run_id, base)


# Review ---------------------------------------------------------------------------------------------------------------


@router.get("/runs/{run_id}/review", summary="Read a run's review")
def read_review(services: Services, run_id: Id) -> ReviewOut:
    """Empty, with version 0, before anything was written."""
    return services.reviews.read(run_id)


@router.put("/runs/{run_id}/review", summary="Write a run's review")
def write_review(services: Services, run_id: Id, body: ReviewIn, actor: Actor) -> ReviewOut:
    """Refused with 409 when somebody else wrote since `version`."""
    # Where nobody signs in, a review without a name stays without one.
    author = body.author if actor.kind is PrincipalKind.LOCAL else actor.name
    return services.reviews.write(run_id, body.model_copy(update={"author": author}))


@router.get("/runs/{run_id}/review/history", summary="Read a review's history")
def read_review_history(services: Services, run_id: Id) -> ReviewHistory:
    """All versions, the newest first."""
    return services.reviews.history(run_id)


@router.get("/meetings/next", summary="List the runs of the next review meeting")
def read_next_meeting(services: Services) -> Meeting:
    """Runs since the last meeting ended."""
    return services.reviews.next_meeting()


@router.post("/meetings", status_code=201, summary="End a review meeting")
def end_meeting(services: Services, body: MeetingIn) -> Meeting:
    """The next meeting begins with the runs after now."""
    return services.reviews.end_meeting(body)


# Sharing and moving ---------------------------------------------------------------------------------------------------


@router.get("/runs/{run_id}/shares", summary="List a run's share links")
def list_shares(services: Services, run_id: Id) -> ShareList:
    """Those that have not expired."""
    return services.shares.list(run_id)


@router.post("/runs/{run_id}/shares", status_code=201, summary="Make a share link")
def create_share(services: Services, run_id: Id, body: ShareIn) -> ShareOut:
    """Whoever has the link can read the run's report until it expires."""
    return services.shares.create(run_id, body)


@router.delete("/shares/{share_id}", status_code=204, summary="Revoke a share link")
def delete_share(services: Services, share_id: Annotated[str, Path(max_length=64)]) -> None:
    """The link shows nothing from now on."""
    services.shares.delete(share_id)


@router.get("/runs/{run_id}/archive", summary="Export a run", response_class=StreamingResponse)
@REPORTS.endpoint
def export_run(
    services: Services,
    run_id: Id,
    evidence: Annotated[bool, Query(description="With the files that are kept with the run.")] = True,
    files: Annotated[
        list[FileId] | None,
        Query(max_length=MOST_FILES, description="Ids of the files that go with it; left out, all of them."),
    ] = None,
    annotations: Annotated[bool, Query(description="With the annotations of the run's time.")] = True,
) -> StreamingResponse:
    """The whole run as one file: samples of its window, records, metadata, reviews, snapshots, files, annotations."""
    chosen = Chosen(files=files if evidence else (), annotations=annotations)
    name, chunks = services.archives.write(run_id, chosen)
    # `identity`: what is inside is compressed already.
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Content-Encoding": "identity"}
    return StreamingResponse(chunks, media_type="application/zip", headers=headers)


@router.post(
    "/archives",
    status_code=201,
    summary="Import an exported run",
    openapi_extra={"requestBody": {"content": {"application/zip": {}}, "required": True}},
)
async def import_archive(
    services: Services,
    request: Request,
    actor: Actor,
    as_new: Annotated[bool, Query(description="Under a new id, where a run of the archive's id is here.")] = False,
) -> RunOut:
    """Take in an archive made by another server. One with samples needs the scope `samples:write` as well."""
    sender = actor.name if actor.may(Scope.SAMPLES_WRITE) else None
    return await services.archives.receive(request_body(request), announced_size(request), as_new=as_new, sender=sender)
