"""Functions of a run's CPU profiles, as the cost of its requests shows them."""

from collections.abc import Sequence

from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.core.language import Language
from loadwatch_backend.evidence.cost.schemas import CostFunction, CostFunctions, CpuRoute
from loadwatch_backend.evidence.profiles.model import Kind, ProfilesDifferError
from loadwatch_backend.evidence.profiles.views.schemas import ProfileOut, ProfileView
from loadwatch_backend.evidence.profiles.views.service import Profiles, ViewAsk
from loadwatch_backend.evidence.request_counts import Normalised
from loadwatch_backend.evidence.runs import HeldRun, RunWindow

MOST_FILES = 8
MOST_FUNCTIONS = 20
MOST_ROUTES = 10
ROUTE_KEYS = ("route", "http.route", "http_route", "endpoint", "handler", "path")
"""Under which applications say which route a stack belongs to."""
_SECONDS = {"nanoseconds": 1e-9, "microseconds": 1e-6, "milliseconds": 1e-3, "seconds": 1.0}


def cpu_functions(profiles: Profiles, held: HeldRun, language: Language) -> CostFunctions | None:
    """Functions of the processor; None without a profile that can be read."""
    try:
        files = cpu_files(profiles.of_run(held.run.id), held.run)
        if not files:
            return None
        other = () if held.base is None else cpu_files(profiles.of_run(held.base.id), held.base)
        view, before = _views(profiles, files, other, language)
    except ProblemError:
        return None
    return functions_out(view, before, len(files))


def _views(
    profiles: Profiles, files: tuple[str, ...], other: tuple[str, ...], language: Language
) -> tuple[ProfileView, ProfileView | None]:
    """The profiles, held against others where they measure the same; and those others alone, for their labels."""

    def view(base: tuple[str, ...], of: tuple[str, ...] = files) -> ProfileView:
        return profiles.view(ViewAsk(files=of, base=base, sample_type=None, language=language))

    if not other:
        return view(()), None
    try:
        now = view(other)
    except ProfilesDifferError:
        return view(()), None
    return now, view((), other) if _route_values(now) else None


def cpu_files(profiles: Sequence[ProfileOut], run: RunWindow) -> tuple[str, ...]:
    """CPU profiles that can be read as one. What somebody brought of another time says nothing of this run."""
    return tuple(one.id for one in profiles if one.kind == Kind.CPU and _within(one, run))[:MOST_FILES]


def _within(profile: ProfileOut, run: RunWindow) -> bool:
    return profile.at_ms <= run.to_ms and profile.at_ms + 1_000 * (profile.seconds or 0.0) >= run.from_ms


def functions_out(view: ProfileView, before: ProfileView | None, profiles: int) -> CostFunctions | None:
    """The table; `before` is the baseline alone. None of profiles in which nothing ran. Pure."""
    if view.total <= 0:
        return None
    factor = _SECONDS.get(view.type.unit)
    scale, per = 1.0 if factor is None else factor, view.normalised
    # Held against nothing, a view is of all the time: a request is what it is to be read by.
    if view.base_total is None and view.requests:
        scale, per = scale / view.requests, Normalised.REQUEST
    functions = sorted((one for one in view.functions if one.flat > 0), key=lambda one: (-one.flat, -one.cum, one.name))

    def scaled(value: float | None) -> float | None:
        return None if value is None else value * scale

    return CostFunctions(
        profiles=profiles,
        unit=view.type.unit if factor is None else "seconds",
        per=per,
        requests_by=view.requests_by if per is Normalised.REQUEST else None,
        total=view.total * scale,
        base_total=scaled(view.base_total),
        functions=[
            CostFunction(
                name=one.name,
                file=one.file,
                words=one.words,
                share=one.flat / view.total,
                cum_share=one.cum / view.total,
                flat=one.flat * scale,
                cum=one.cum * scale,
                base_flat=scaled(one.base_flat),
                base_cum=scaled(one.base_cum),
            )
            for one in functions[:MOST_FUNCTIONS]
        ],
        by_route=_by_route(view, before),
    )


def _by_route(view: ProfileView, before: ProfileView | None) -> list[CpuRoute]:
    earlier = {} if before is None or before.total <= 0 else _route_values(before)
    found = [
        CpuRoute(
            name=name,
            share=value / view.total,
            # A label that the other run had not at all says nothing of its routes.
            base_share=earlier.get(name, 0.0) / before.total if before is not None and earlier else None,
        )
        for name, value in _route_values(view).items()
    ]
    return sorted(found, key=lambda one: (-one.share, one.name))[:MOST_ROUTES]


def _route_values(view: ProfileView) -> dict[str, float]:
    by_key = {one.key: one for one in view.labels}
    found = next((by_key[key] for key in ROUTE_KEYS if key in by_key), None)
    return {} if found is None else {one.text: one.value for one in found.values}
