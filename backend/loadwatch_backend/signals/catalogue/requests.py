"""Requests as a web server or an application counts them, whichever of the known metrics a job has.

A job whose requests are counted twice, such as an application with a `/metrics` page and its access log, is read from
one of the two: `or on (job)` takes the first family of `FAMILIES` that a job has. Two jobs, such as a proxy and the
application behind it, are two lines, and never one sum.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from loadwatch_backend.signals.model import Group, Orientation, Panel, Signal, Unit
from loadwatch_backend.texts.words import Words


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Metrics of one origin; empty where it has none.

    Attributes:
        requests: a counter of requests.
        where: matchers that belong to all of its metrics.
        statuses: labels under one of which the status stands: as `503`, or as `5xx`.
        failed: a counter of answers by class, where it is another one, with `failed_where` for 5xx.
        durations: a histogram of durations in `seconds`, without its ending.
        route: the labels of method and route, where the durations have them.
    """

    requests: str
    where: str = ""
    statuses: Sequence[str] = ()
    failed: str = ""
    failed_where: str = ""
    durations: str = ""
    seconds: float = 1
    route: tuple[str, str] | None = None

    def select(self, metric: str, matcher: str = "") -> str:
        """A selector of one of its metrics."""
        matchers = ", ".join(filter(None, (self.where, matcher)))
        return f"{metric}{{{matchers}}}" if matchers else metric


FAMILIES: Sequence[Family] = (
    # Our collector `access_log`, and whoever names the labels alike.
    Family(
        requests="http_requests_total",
        where='route!="", method!=""',
        statuses=("code",),
        durations="http_request_duration_seconds",
        route=("method", "route"),
    ),
    # OpenTelemetry, semantic conventions for HTTP servers.
    Family(
        requests="http_server_request_duration_seconds_count",
        statuses=("http_response_status_code",),
        durations="http_server_request_duration_seconds",
        route=("http_request_method", "http_route"),
    ),
    # Client libraries of Prometheus.
    Family(
        requests="http_requests_total",
        statuses=("code", "status", "status_code"),
        durations="http_request_duration_seconds",
    ),
    Family(requests="http_request_duration_seconds_count", statuses=("code", "status", "status_code")),
    # nginx-module-vts; the host * is all of them together, and one code is the total of the others.
    Family(
        requests="nginx_vts_server_requests_total",
        where='host="*", code!="total"',
        statuses=("code",),
        durations="nginx_vts_server_request_duration_seconds",
    ),
    # ingress-nginx; its counter has no ending.
    Family(
        requests="nginx_ingress_controller_requests",
        statuses=("status",),
        durations="nginx_ingress_controller_request_duration_seconds",
    ),
    # nginx-prometheus-exporter, from stub_status.
    Family(requests="nginx_http_requests_total"),
    Family(
        requests="traefik_service_requests_total",
        statuses=("code",),
        durations="traefik_service_request_duration_seconds",
    ),
    # Traefik counts a request at its entry point as well, which may be all that is switched on; its own is for scrapes.
    Family(
        requests="traefik_entrypoint_requests_total",
        where='entrypoint!="traefik"',
        statuses=("code",),
        durations="traefik_entrypoint_request_duration_seconds",
    ),
    # Envoy counts milliseconds. What came in first: it has what Envoy itself answered, and no retries.
    Family(
        requests="envoy_http_downstream_rq_total",
        where='envoy_http_conn_manager_prefix!="admin"',
        failed="envoy_http_downstream_rq_xx",
        failed_where='envoy_response_code_class="5"',
        durations="envoy_http_downstream_rq_time",
        seconds=0.001,
    ),
    Family(
        requests="envoy_cluster_upstream_rq_total",
        failed="envoy_cluster_upstream_rq_xx",
        failed_where='envoy_response_code_class="5"',
        durations="envoy_cluster_upstream_rq_time",
        seconds=0.001,
    ),
)

_BY_INSTANCE = "job, instance"
_MOST_ROUTES = 50
"""Of which a table shows the ten greatest over its range."""


def _first(parts: Sequence[str]) -> str:
    """The first of the expressions that a job has."""
    return " or on (job) ".join(f"({part})" for part in parts)


def rate_of_requests(by: str = _BY_INSTANCE) -> str:
    """Requests per second."""
    return _first([_rate(by, family.select(family.requests)) for family in FAMILIES])


def rate_of_failures(by: str = _BY_INSTANCE) -> str:
    """Requests per second that were answered with 5xx; 0 where there were none, none where nothing tells."""
    parts: list[str] = []
    for family in FAMILIES:
        if family.failed:
            failed = family.select(family.failed, family.failed_where)
            parts.append(f"{_rate(by, failed)} or {_rate(by, family.select(family.requests))} * 0")
        for label in family.statuses:
            failed = family.select(family.requests, f'{label}=~"5.."')
            known = family.select(family.requests, f'{label}!=""')
            parts.append(f"{_rate(by, failed)} or {_rate(by, known)} * 0")
    return _first(parts)


def quantile_of_requests(share: float, by: str = _BY_INSTANCE) -> str:
    """A quantile of durations in seconds."""
    parts: list[str] = []
    for family in FAMILIES:
        if family.durations:
            buckets = family.select(f"{family.durations}_bucket")
            scale = "" if family.seconds == 1 else f" * {family.seconds}"
            parts.append(f"histogram_quantile({share}, {_rate(f'{by}, le', buckets)}){scale}")
    return _first(parts)


def _rate(by: str, selector: str) -> str:
    return f"sum by ({by}) (rate({selector}[$window]))"


def _rate_by_class() -> str:
    """Requests per second by class of status, 304 apart."""
    parts: list[str] = []
    for family in FAMILIES:
        for label in family.statuses:
            exact = family.select(family.requests, f'{label}=~"..."')
            rate = f"rate({exact}[$window])"
            classed = f'label_replace({rate}, "class", "${{1}}xx", "{label}", "(.)..")'
            parts.append(f'sum by (job, class) (label_replace({classed}, "class", "304", "{label}", "304"))')
    return _first(parts)


def _time_by_route() -> str:
    """Time spent on requests, seconds per second, by method and route as one label."""
    parts: list[str] = []
    for family in FAMILIES:
        if family.route is not None:
            method, route = family.route
            time = f"rate({family.select(f'{family.durations}_sum')}[$window])"
            parts.append(f'sum by (job, request) (label_join({time}, "request", " ", "{method}", "{route}"))')
    return f"topk({_MOST_ROUTES}, {_first(parts)})"


_ORDER = Words(
    "Of a job that counts its requests twice, the first is read: access log, OpenTelemetry, Prometheus client, nginx, "
    "Traefik, Envoy.",
    "同じジョブが二重に数える場合は、アクセスログ、OpenTelemetry、Prometheusクライアント、nginx、Traefik、Envoyの順で"
    "最初のものを使う。",
)


def _help(en: str, ja: str) -> Words:
    return Words(f"{en} {_ORDER.en}", f"{ja}{_ORDER.ja}")


def _latency(name: str, share: float, en: str, ja: str) -> Signal:
    return Signal(
        id=f"requests_{name}",
        title=Words(name, name),
        help=_help(
            f"{en} From a histogram: within half a bucket, 9 % for an access log.",
            f"{ja}ヒストグラムからの推定で、誤差はバケット幅の半分(アクセスログでは9%)。",
        ),
        unit=Unit.SECONDS,
        orientation=Orientation.MORE_IS_WORSE,
        expression=quantile_of_requests(share),
        legend="{{job}} {{instance}}",
    )


PANELS = (
    Panel(
        id="requests-rate",
        title=Words("Requests at the web server", "Webサーバーのリクエスト数"),
        signals=(
            Signal(
                id="requests_rate",
                title=Words("Requests", "リクエスト"),
                help=_help(
                    "Requests that a web server or application answered, per second.",
                    "Webサーバーまたはアプリが応答したリクエスト数(毎秒)。",
                ),
                unit=Unit.PER_SECOND,
                orientation=Orientation.NEUTRAL,
                expression=rate_of_requests(),
                legend="{{job}} {{instance}}",
            ),
        ),
    ),
    Panel(
        id="requests-latency",
        title=Words("Response time at the web server", "Webサーバーの応答時間"),
        signals=(
            _latency("p50", 0.5, "Half of the answers took no longer.", "半数の応答がこの時間以内。"),
            _latency("p95", 0.95, "95 % of the answers took no longer.", "95%の応答がこの時間以内。"),
            _latency("p99", 0.99, "99 % of the answers took no longer.", "99%の応答がこの時間以内。"),
        ),
    ),
    Panel(
        id="requests-failures",
        title=Words("Share of failures at the web server", "Webサーバーの失敗率"),
        signals=(
            Signal(
                id="requests_failed",
                title=Words("5xx", "5xx"),
                help=_help("Share of the requests that were answered with 5xx.", "5xxで応答したリクエストの割合。"),
                unit=Unit.RATIO,
                orientation=Orientation.MORE_IS_WORSE,
                expression=f"({rate_of_failures()}) / (({rate_of_requests()}) > 0)",
                legend="{{job}} {{instance}}",
            ),
        ),
    ),
    Panel(
        id="requests-status",
        title=Words("Answers by status", "ステータス別の応答"),
        signals=(
            Signal(
                id="requests_status",
                title=Words("Answers", "応答"),
                help=_help(
                    "Answers by class of status; 304 (not modified, no body) apart.",
                    "ステータスの区分別の応答数。304(未変更、本文なし)は別に数える。",
                ),
                unit=Unit.PER_SECOND,
                orientation=Orientation.NEUTRAL,
                expression=_rate_by_class(),
                legend="{{job}} {{class}}",
            ),
        ),
    ),
    Panel(
        id="requests-routes",
        title=Words("Routes by time", "ルート別の所要時間"),
        stacked=True,
        table=True,
        signals=(
            Signal(
                id="requests_routes",
                title=Words("Requests at work", "処理中リクエスト"),
                help=Words(
                    "Seconds of answering per second, by route: as many requests were at work at once. Of the fifty "
                    "greatest routes of each moment.",
                    "1秒あたりの応答処理時間(秒)をルート別に示す。平均同時処理数と同じ。各時点の上位50ルートによる。",
                ),
                unit=Unit.COUNT,
                orientation=Orientation.NEUTRAL,
                expression=_time_by_route(),
                legend="{{job}} {{request}}",
                layers=("request",),
            ),
        ),
    ),
    Panel(
        id="requests-bytes",
        title=Words("Bytes of answers", "応答のデータ量"),
        signals=(
            Signal(
                id="requests_bytes",
                title=Words("Sent", "送信"),
                help=Words("Bytes of answers as the access log counts them.", "アクセスログが数えた応答のバイト数。"),
                unit=Unit.BYTES_PER_SECOND,
                orientation=Orientation.NEUTRAL,
                expression="sum by (job, instance) (rate(http_response_bytes_total[$window]))",
                legend="{{job}} {{instance}}",
            ),
        ),
    ),
    Panel(
        id="requests-log-delay",
        title=Words("Delay of the access log", "アクセスログの遅れ"),
        signals=(
            Signal(
                id="access_log_delay",
                title=Words("Delay", "遅れ"),
                help=Words(
                    "From the time that the newest line names to its being read. What the server buffers is counted "
                    "that much too late.",
                    "最新行の時刻から読み取りまでの時間。サーバーがバッファした分は、その分遅れて数えられる。",
                ),
                unit=Unit.SECONDS,
                orientation=Orientation.MORE_IS_WORSE,
                expression="max by (job, instance) (access_log_delay_seconds)",
                legend="{{job}} {{instance}}",
            ),
        ),
    ),
)

GROUP = Group(id="requests", title=Words("Requests", "リクエスト"), panels=PANELS, optional=True)
