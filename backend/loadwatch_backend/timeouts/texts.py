"""The words of layers, timeouts and rules, in English and Japanese. {shorter} and {longer} are durations.

{for_shorter} is the same with a preposition: `for 60 s`, `for ever`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from loadwatch_backend.timeouts.model import Kind, Layer, TimeoutKey


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleTexts:
    """What should hold, what happens where it does not, and what to change."""

    title: str
    consequence: str
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeoutTexts:
    """All words of one language."""

    layers: Mapping[Layer, str]
    kinds: Mapping[TimeoutKey, str]
    hints: Mapping[TimeoutKey, str]
    rules: Mapping[str, RuleTexts]
    no_limit: str
    for_ever: str
    for_some: str
    over: str
    units: Mapping[str, str]
    glue: str

    def duration(self, seconds: float, *, at_least: bool = False) -> str:
        """`60 s`, `1 h 30 min`, `over 120 s`, `no limit`."""
        if seconds == float("inf"):
            return self.no_limit
        text = self._plain(seconds)
        return self.over.format(text) if at_least else text

    def span(self, seconds: float, *, at_least: bool = False) -> str:
        """`for 60 s`, `for over 120 s`, `for ever`."""
        if seconds == float("inf"):
            return self.for_ever
        return self.for_some.format(self.duration(seconds, at_least=at_least))

    def _plain(self, seconds: float) -> str:
        if seconds < 1:
            return f"{round(seconds * 1_000)}{self.units['ms']}"
        if seconds < 120:
            return f"{seconds:.3g}{self.units['s']}"
        whole, parts = round(seconds), list[str]()
        for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)):
            count, whole = divmod(whole, size)
            if count:
                parts.append(f"{count}{self.units[unit]}")
        return self.glue.join(parts[:2])


def _place(layer: Layer, kind: Kind) -> TimeoutKey:
    return TimeoutKey(layer, kind)


_CLIENT_REQUEST = _place(Layer.CLIENT, Kind.REQUEST)
_CLIENT_IDLE = _place(Layer.CLIENT, Kind.IDLE)
_BALANCER_IDLE = _place(Layer.LOAD_BALANCER, Kind.IDLE)
_READ_HEADER = _place(Layer.APP, Kind.READ_HEADER)
_READ = _place(Layer.APP, Kind.READ)
_HANDLER = _place(Layer.APP, Kind.HANDLER)
_WRITE = _place(Layer.APP, Kind.WRITE)
_APP_IDLE = _place(Layer.APP, Kind.IDLE)
_POOL_IDLE = _place(Layer.POOL, Kind.MAX_IDLE_TIME)
_LIFETIME = _place(Layer.POOL, Kind.MAX_LIFETIME)
_WAIT = _place(Layer.DATABASE, Kind.WAIT)
_LOCK_WAIT = _place(Layer.DATABASE, Kind.LOCK_WAIT)
_STATEMENT = _place(Layer.DATABASE, Kind.STATEMENT)

EN = TimeoutTexts(
    layers={
        Layer.CLIENT: "Client",
        Layer.LOAD_BALANCER: "Load balancer",
        Layer.APP: "Application",
        Layer.POOL: "Connection pool",
        Layer.DATABASE: "Database",
    },
    kinds={
        _CLIENT_REQUEST: "Whole request",
        _CLIENT_IDLE: "Idle connection",
        _BALANCER_IDLE: "Idle timeout",
        _READ_HEADER: "Reading a head",
        _READ: "Reading a request",
        _HANDLER: "Handler",
        _WRITE: "Writing the answer",
        _APP_IDLE: "Idle connection",
        _POOL_IDLE: "Idle connection",
        _LIFETIME: "Age of a connection",
        _WAIT: "Idle session",
        _LOCK_WAIT: "Waiting for a lock",
        _STATEMENT: "Statement",
    },
    hints={
        _CLIENT_REQUEST: "timeouts: {client: {request: 30s}}, the load tool's timeout (vegeta: -timeout, 30 s unless "
        "set).",
        _CLIENT_IDLE: "timeouts: {client: {idle: 50s}}, in Go Transport.IdleConnTimeout (90 s by default).",
        _BALANCER_IDLE: "Found by itself with cloudwatch; or timeouts: {load_balancer: {idle: 60s}}; "
        "where there is none, {load_balancer: {none: true}}.",
        _READ_HEADER: "Measured by a probe; or timeouts: {app: {read_header: 10s}}, in Go ReadHeaderTimeout.",
        _READ: "timeouts: {app: {read: 30s}}, in Go ReadTimeout.",
        _HANDLER: "timeouts: {app: {handler: 25s}}, in Go http.TimeoutHandler; most applications have none.",
        _WRITE: "timeouts: {app: {write: 30s}}, in Go WriteTimeout.",
        _APP_IDLE: "Measured by a probe; or timeouts: {app: {idle: 75s}}, in Go IdleTimeout.",
        _POOL_IDLE: "timeouts: {pool: {max_idle_time: 5m}}, in Go SetConnMaxIdleTime.",
        _LIFETIME: "timeouts: {pool: {max_lifetime: 1h}}, in Go SetConnMaxLifetime.",
        _WAIT: "Found by itself with mysql (wait_timeout); or timeouts: {database: {wait: 8h}}.",
        _LOCK_WAIT: "Found by itself with mysql (innodb_lock_wait_timeout).",
        _STATEMENT: "Found by itself with mysql (max_execution_time, in MariaDB max_statement_time).",
    },
    rules={
        "balancer_idle_before_app": RuleTexts(
            title="The load balancer ends idle connections before the application does",
            consequence="The application ends an idle connection after {longer}, the load balancer keeps it for "
            "{shorter}. Now and then the balancer sends a request just as the application hangs up, and the client "
            "gets a 502 or 504, though both are healthy.",
            remedy="Raise the application's idle timeout above {shorter}, or lower the load balancer's below {longer}.",
        ),
        "pool_before_database": RuleTexts(
            title="The pool lets connections go before the database ends them",
            consequence="The database ends a session after {longer} of idling; the pool would keep it {for_shorter}. "
            "The next request takes a dead connection: “invalid connection” or “server has gone away”, after "
            "each quiet time.",
            remedy="Set the pool's idle time or lifetime below {longer}, with room to spare.",
        ),
        "answer_before_balancer": RuleTexts(
            title="The application answers before the load balancer stops waiting",
            consequence="The application may work on an answer {for_shorter}, the load balancer waits for {longer}. "
            "Slower answers are 504 to the client, and the application goes on working for nobody.",
            remedy="Let the application give up, with an answer of its own, before {longer}.",
        ),
        "balancer_before_client": RuleTexts(
            title="The client waits longer than the load balancer",
            consequence="The client gives up after {longer}, the load balancer after {shorter}. Slow requests count as "
            "timeouts of the client (460 in the balancer's log) without anybody's saying why, and what they ask for is "
            "still done: rows are stored for requests that count as failed.",
            remedy="Let clients wait longer than {shorter}, or lower the timeouts behind them.",
        ),
        "answer_before_client": RuleTexts(
            title="The application gives up before the client",
            consequence="The client gives up after {longer}, the application goes on {for_shorter}. Slow requests "
            "count as timeouts of the client without anybody's saying why, and what they ask for is still done: rows "
            "are stored for requests that count as failed.",
            remedy="Let the application give up, with an answer of its own, before {longer}.",
        ),
        "client_idle_before_balancer": RuleTexts(
            title="The client lets idle connections go before the load balancer ends them",
            consequence="The client keeps idle connections {for_shorter}, the load balancer ends them after "
            "{longer}. A "
            "request on one that is just ending fails with “connection reset”; clients repeat a GET by "
            "themselves, a POST not.",
            remedy="Let the client's idle time be below {longer}.",
        ),
        "client_idle_before_app": RuleTexts(
            title="The client lets idle connections go before the application ends them",
            consequence="The client keeps idle connections {for_shorter}, the application ends them after {longer}. A "
            "request on one that is just ending fails with “connection reset”; clients repeat a GET by "
            "themselves, a POST not.",
            remedy="Let the client's idle time be below {longer}, or raise the application's idle timeout.",
        ),
        "handler_before_write": RuleTexts(
            title="The handler gives up before the connection is cut",
            consequence="The handler gives up after {shorter}, the connection is cut after {longer}: its error can "
            "never be sent. The client sees an empty answer, behind a load balancer a 502.",
            remedy="Set the handler's timeout some seconds below {longer}.",
        ),
        "lock_wait_before_answer": RuleTexts(
            title="A wait for a row's lock ends before the request does",
            consequence="A statement waits for a row's lock {for_shorter}, the request is given up after "
            "{longer}. "
            "Nobody learns that it was a lock, and the transaction holds its own locks meanwhile.",
            remedy="Set innodb_lock_wait_timeout of the application's sessions below {longer}.",
        ),
        "measured_otherwise": RuleTexts(
            title="What is written is what is measured",
            consequence="It is written as {longer}, and measured as {shorter}. The configuration may not be deployed, "
            "or something between ends connections. What was measured counts.",
            remedy="Find out which process listens there, with which settings, and correct the one or the other.",
        ),
        "keep_alive_off": RuleTexts(
            title="The application keeps connections",
            consequence="The application ends each connection with its answer. Every request pays for a new one, and "
            "ports pile up in TIME_WAIT.",
            remedy="Turn keep-alive on, with an idle timeout above the load balancer's.",
        ),
        "header_limit": RuleTexts(
            title="Reading a head has a limit",
            consequence="Reading a request's head has {shorter}: whoever sends it slowly holds a connection and "
            "its "
            "file descriptor. An ALB passes whole heads only; clients that come directly can do it.",
            remedy="Set the limit to a few seconds (in Go ReadHeaderTimeout).",
        ),
    },
    no_limit="no limit",
    for_ever="for ever",
    for_some="for {}",
    over="over {}",
    units={"ms": " ms", "s": " s", "min": " min", "h": " h", "d": " d"},
    glue=" ",
)

JA = TimeoutTexts(
    layers={
        Layer.CLIENT: "クライアント",
        Layer.LOAD_BALANCER: "ロードバランサー",
        Layer.APP: "アプリケーション",
        Layer.POOL: "コネクションプール",
        Layer.DATABASE: "データベース",
    },
    kinds={
        _CLIENT_REQUEST: "リクエスト全体",
        _CLIENT_IDLE: "アイドル接続",
        _BALANCER_IDLE: "アイドルタイムアウト",
        _READ_HEADER: "ヘッダーの読み込み",
        _READ: "リクエストの読み込み",
        _HANDLER: "ハンドラー",
        _WRITE: "応答の書き込み",
        _APP_IDLE: "アイドル接続",
        _POOL_IDLE: "アイドル接続",
        _LIFETIME: "接続の寿命",
        _WAIT: "アイドルセッション",
        _LOCK_WAIT: "ロック待ち",
        _STATEMENT: "ステートメント",
    },
    hints={
        _CLIENT_REQUEST: "timeouts: {client: {request: 30s}}。負荷ツールのタイムアウト(vegeta は -timeout、既定 30 "
        "秒)。",
        _CLIENT_IDLE: "timeouts: {client: {idle: 50s}}。Go では Transport.IdleConnTimeout(既定 90 秒)。",
        _BALANCER_IDLE: "cloudwatch があれば自動で取得。または timeouts: {load_balancer: {idle: 60s}}。"
        "ロードバランサーがなければ {load_balancer: {none: true}}。",
        _READ_HEADER: "プローブで計測。または timeouts: {app: {read_header: 10s}}。Go では ReadHeaderTimeout。",
        _READ: "timeouts: {app: {read: 30s}}。Go では ReadTimeout。",
        _HANDLER: "timeouts: {app: {handler: 25s}}。Go では http.TimeoutHandler。使わないアプリケーションが大半。",
        _WRITE: "timeouts: {app: {write: 30s}}。Go では WriteTimeout。",
        _APP_IDLE: "プローブで計測。または timeouts: {app: {idle: 75s}}。Go では IdleTimeout。",
        _POOL_IDLE: "timeouts: {pool: {max_idle_time: 5m}}。Go では SetConnMaxIdleTime。",
        _LIFETIME: "timeouts: {pool: {max_lifetime: 1h}}。Go では SetConnMaxLifetime。",
        _WAIT: "mysql があれば自動で取得(wait_timeout)。または timeouts: {database: {wait: 8h}}。",
        _LOCK_WAIT: "mysql があれば自動で取得(innodb_lock_wait_timeout)。",
        _STATEMENT: "mysql があれば自動で取得(max_execution_time、MariaDB では max_statement_time)。",
    },
    rules={
        "balancer_idle_before_app": RuleTexts(
            title="ロードバランサーがアプリケーションより先にアイドル接続を閉じる",
            consequence="アプリケーションはアイドル接続を {longer} で閉じ、ロードバランサーは {shorter} 保持します。"
            "アプリケーションが閉じる瞬間にリクエストが送られると、双方が正常でもクライアントには 502 や 504 "
            "が返ります。",
            remedy="アプリケーションのアイドルタイムアウトを {shorter} より長くするか、ロードバランサーを {longer} "
            "より短くします。",
        ),
        "pool_before_database": RuleTexts(
            title="プールがデータベースより先に接続を手放す",
            consequence="データベースは {longer} アイドルのセッションを切りますが、プールは{for_shorter}保持します。"
            "静かな時間のあと、次のリクエストが切れた接続を使い、invalid connection や server has gone away "
            "になります。",
            remedy="プールのアイドル時間か寿命を、余裕をもって {longer} より短くします。",
        ),
        "answer_before_balancer": RuleTexts(
            title="ロードバランサーが待つのをやめる前にアプリケーションが応答する",
            consequence="アプリケーションは{for_shorter}処理を続けることがあり、"
            "ロードバランサーが待つのは {longer} です。"
            "それより遅い応答はクライアントには 504 となり、アプリケーションは誰も待たない処理を続けます。",
            remedy="アプリケーション側で、{longer} より前に自分のエラー応答を返して打ち切ります。",
        ),
        "balancer_before_client": RuleTexts(
            title="クライアントがロードバランサーより長く待つ",
            consequence="クライアントは {longer} であきらめ、ロードバランサーは {shorter} 待ちます。"
            "遅いリクエストは理由の分からないクライアントのタイムアウト(ロードバランサーのログでは 460)になり、"
            "処理自体は続くため、失敗と数えたリクエストの行も保存されます。",
            remedy="クライアントを {shorter} より長く待たせるか、その先のタイムアウトを短くします。",
        ),
        "answer_before_client": RuleTexts(
            title="アプリケーションがクライアントより先に打ち切る",
            consequence="クライアントは {longer} であきらめ、アプリケーションは{for_shorter}続けます。"
            "遅いリクエストは理由の分からないクライアントのタイムアウトになり、"
            "処理自体は続くため、失敗と数えたリクエストの行も保存されます。",
            remedy="アプリケーション側で、{longer} より前に自分のエラー応答を返して打ち切ります。",
        ),
        "client_idle_before_balancer": RuleTexts(
            title="クライアントがロードバランサーより先にアイドル接続を手放す",
            consequence="クライアントはアイドル接続を{for_shorter}保持し、ロードバランサーは {longer} で閉じます。"
            "閉じる瞬間の接続で送ったリクエストは connection reset で失敗します。GET は自動で再送されますが、POST "
            "はされません。",
            remedy="クライアントのアイドル時間を {longer} より短くします。",
        ),
        "client_idle_before_app": RuleTexts(
            title="クライアントがアプリケーションより先にアイドル接続を手放す",
            consequence="クライアントはアイドル接続を{for_shorter}保持し、アプリケーションは {longer} で閉じます。"
            "閉じる瞬間の接続で送ったリクエストは connection reset で失敗します。GET は自動で再送されますが、POST "
            "はされません。",
            remedy="クライアントのアイドル時間を {longer} より短くするか、"
            "アプリケーションのアイドルタイムアウトを長くします。",
        ),
        "handler_before_write": RuleTexts(
            title="接続が切られる前にハンドラーが打ち切る",
            consequence="ハンドラーは {shorter} で打ち切りますが、接続は {longer} で切られるため、"
            "エラー応答を送れません。"
            "クライアントには空の応答、ロードバランサーの先では 502 になります。",
            remedy="ハンドラーのタイムアウトを {longer} より数秒短くします。",
        ),
        "lock_wait_before_answer": RuleTexts(
            title="行ロックの待ちがリクエストより先に終わる",
            consequence="ステートメントは行ロックを{for_shorter}待ち、リクエストは {longer} で打ち切られます。"
            "原因がロックだったことは誰にも伝わらず、その間トランザクションは自分のロックを持ち続けます。",
            remedy="アプリケーションのセッションの innodb_lock_wait_timeout を {longer} より短くします。",
        ),
        "measured_otherwise": RuleTexts(
            title="設定値と計測値が一致する",
            consequence="設定は {longer} ですが、計測では {shorter} でした。"
            "設定が反映されていないか、途中の何かが接続を閉じています。判定には計測値を使います。",
            remedy="そこで待ち受けているプロセスとその設定を確かめ、どちらかを直します。",
        ),
        "keep_alive_off": RuleTexts(
            title="アプリケーションが接続を保つ",
            consequence="アプリケーションは応答のたびに接続を閉じます。"
            "リクエストごとに新しい接続が必要になり、TIME_WAIT のポートがたまります。",
            remedy="キープアライブを有効にし、アイドルタイムアウトをロードバランサーより長くします。",
        ),
        "header_limit": RuleTexts(
            title="ヘッダーの読み込みに上限がある",
            consequence="リクエストヘッダーの読み込みに許される時間は{shorter}です。ゆっくり送るだけで、"
            "接続とファイル記述子を"
            "占有できます。ALB は完全なヘッダーだけを渡しますが、直接つなぐクライアントには可能です。",
            remedy="数秒の上限を設定します(Go では ReadHeaderTimeout)。",
        ),
    },
    no_limit="無制限",
    for_ever="無期限に",
    for_some=" {} ",
    over="{}超",
    units={"ms": "ミリ秒", "s": "秒", "min": "分", "h": "時間", "d": "日"},
    glue="",
)
