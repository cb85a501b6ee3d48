"""Layers, their timeouts, and rules on their order.

`{shorter}` and `{longer}` are durations, `{for_shorter}` is the same with a preposition: `for 60 s`, `for ever`.
Of a rule, `title` is what should hold, `consequence` what happens where it does not, and `remedy` what to change.
"""

from loadwatch_backend.texts.words import Catalogue, Words

TIMEOUTS: Catalogue = {
    "layer.client": Words("Client", "クライアント"),
    "layer.load_balancer": Words("Load balancer", "ロードバランサー"),
    "layer.app": Words("Application", "アプリケーション"),
    "layer.pool": Words("Connection pool", "コネクションプール"),
    "layer.database": Words("Database", "データベース"),
    "kind.client.request": Words("Whole request", "リクエスト全体"),
    "kind.client.idle": Words("Idle connection", "アイドル接続"),
    "kind.load_balancer.idle": Words("Idle timeout", "アイドルタイムアウト"),
    "kind.app.read_header": Words("Reading a head", "ヘッダーの読み込み"),
    "kind.app.read": Words("Reading a request", "リクエストの読み込み"),
    "kind.app.handler": Words("Handler", "ハンドラー"),
    "kind.app.write": Words("Writing the answer", "応答の書き込み"),
    "kind.app.idle": Words("Idle connection", "アイドル接続"),
    "kind.pool.max_idle_time": Words("Idle connection", "アイドル接続"),
    "kind.pool.max_lifetime": Words("Age of a connection", "接続の寿命"),
    "kind.database.wait": Words("Idle session", "アイドルセッション"),
    "kind.database.lock_wait": Words("Waiting for a lock", "ロック待ち"),
    "kind.database.statement": Words("Statement", "ステートメント"),
    "hint.client.request": Words(
        "timeouts: {client: {request: 30s}}, the load tool's timeout (vegeta: -timeout, 30 s unless set).",
        "timeouts: {client: {request: 30s}}。負荷ツールのタイムアウト(vegeta は -timeout、既定 30 秒)。",
    ),
    "hint.client.idle": Words(
        "timeouts: {client: {idle: 50s}}, in Go Transport.IdleConnTimeout (90 s by default).",
        "timeouts: {client: {idle: 50s}}。Go では Transport.IdleConnTimeout(既定 90 秒)。",
    ),
    "hint.load_balancer.idle": Words(
        "Found by itself with cloudwatch; or timeouts: {load_balancer: {idle: 60s}}; where there is none, "
        "{load_balancer: {none: true}}.",
        "cloudwatch があれば自動で取得。または timeouts: {load_balancer: {idle: 60s}}。ロードバランサーがなければ "
        "{load_balancer: {none: true}}。",
    ),
    "hint.app.read_header": Words(
        "Measured by a probe; or timeouts: {app: {read_header: 10s}}, in Go ReadHeaderTimeout.",
        "プローブで計測。または timeouts: {app: {read_header: 10s}}。Go では ReadHeaderTimeout。",
    ),
    "hint.app.read": Words(
        "timeouts: {app: {read: 30s}}, in Go ReadTimeout.",
        "timeouts: {app: {read: 30s}}。Go では ReadTimeout。",
    ),
    "hint.app.handler": Words(
        "timeouts: {app: {handler: 25s}}, in Go http.TimeoutHandler; most applications have none.",
        "timeouts: {app: {handler: 25s}}。Go では http.TimeoutHandler。使わないアプリケーションが大半。",
    ),
    "hint.app.write": Words(
        "timeouts: {app: {write: 30s}}, in Go WriteTimeout.",
        "timeouts: {app: {write: 30s}}。Go では WriteTimeout。",
    ),
    "hint.app.idle": Words(
        "Measured by a probe; or timeouts: {app: {idle: 75s}}, in Go IdleTimeout.",
        "プローブで計測。または timeouts: {app: {idle: 75s}}。Go では IdleTimeout。",
    ),
    "hint.pool.max_idle_time": Words(
        "timeouts: {pool: {max_idle_time: 5m}}, in Go SetConnMaxIdleTime.",
        "timeouts: {pool: {max_idle_time: 5m}}。Go では SetConnMaxIdleTime。",
    ),
    "hint.pool.max_lifetime": Words(
        "timeouts: {pool: {max_lifetime: 1h}}, in Go SetConnMaxLifetime.",
        "timeouts: {pool: {max_lifetime: 1h}}。Go では SetConnMaxLifetime。",
    ),
    "hint.database.wait": Words(
        "Found by itself with mysql (wait_timeout); or timeouts: {database: {wait: 8h}}.",
        "mysql があれば自動で取得(wait_timeout)。または timeouts: {database: {wait: 8h}}。",
    ),
    "hint.database.lock_wait": Words(
        "Found by itself with mysql (innodb_lock_wait_timeout).",
        "mysql があれば自動で取得(innodb_lock_wait_timeout)。",
    ),
    "hint.database.statement": Words(
        "Found by itself with mysql (max_execution_time, in MariaDB max_statement_time).",
        "mysql があれば自動で取得(max_execution_time、MariaDB では max_statement_time)。",
    ),
    "rule.balancer_idle_before_app.title": Words(
        "The load balancer ends idle connections before the application does",
        "ロードバランサーがアプリケーションより先にアイドル接続を閉じる",
    ),
    "rule.balancer_idle_before_app.consequence": Words(
        "The application ends an idle connection after {longer}, the load balancer keeps it for {shorter}. Now and "
        "then the balancer sends a request just as the application hangs up, and the client gets a 502 or 504, "
        "though both are healthy.",
        "アプリケーションはアイドル接続を {longer} で閉じ、ロードバランサーは {shorter} 保持します。"
        "アプリケーションが閉じる瞬間にリクエストが送られると、双方が正常でもクライアントには 502 や 504 "
        "が返ります。",
    ),
    "rule.balancer_idle_before_app.remedy": Words(
        "Raise the application's idle timeout above {shorter}, or lower the load balancer's below {longer}.",
        "アプリケーションのアイドルタイムアウトを {shorter} より長くするか、ロードバランサーを {longer} "
        "より短くします。",
    ),
    "rule.pool_before_database.title": Words(
        "The pool lets connections go before the database ends them",
        "プールがデータベースより先に接続を手放す",
    ),
    "rule.pool_before_database.consequence": Words(
        "The database ends a session after {longer} of idling; the pool would keep it {for_shorter}. The next "
        "request takes a dead connection: “invalid connection” or “server has gone away”, after each quiet time.",
        "データベースは {longer} アイドルのセッションを切りますが、プールは{for_shorter}保持します。"
        "静かな時間のあと、次のリクエストが切れた接続を使い、invalid connection や server has gone away になります。",
    ),
    "rule.pool_before_database.remedy": Words(
        "Set the pool's idle time or lifetime below {longer}, with room to spare.",
        "プールのアイドル時間か寿命を、余裕をもって {longer} より短くします。",
    ),
    "rule.answer_before_balancer.title": Words(
        "The application answers before the load balancer stops waiting",
        "ロードバランサーが待つのをやめる前にアプリケーションが応答する",
    ),
    "rule.answer_before_balancer.consequence": Words(
        "The application may work on an answer {for_shorter}, the load balancer waits for {longer}. Slower answers "
        "are 504 to the client, and the application goes on working for nobody.",
        "アプリケーションは{for_shorter}処理を続けることがあり、ロードバランサーが待つのは {longer} です。"
        "それより遅い応答はクライアントには 504 となり、アプリケーションは誰も待たない処理を続けます。",
    ),
    "rule.answer_before_balancer.remedy": Words(
        "Let the application give up, with an answer of its own, before {longer}.",
        "アプリケーション側で、{longer} より前に自分のエラー応答を返して打ち切ります。",
    ),
    "rule.balancer_before_client.title": Words(
        "The client waits longer than the load balancer",
        "クライアントがロードバランサーより長く待つ",
    ),
    "rule.balancer_before_client.consequence": Words(
        "The client gives up after {longer}, the load balancer after {shorter}. Slow requests count as timeouts of "
        "the client (460 in the balancer's log) without anybody's saying why, and what they ask for is still done: "
        "rows are stored for requests that count as failed.",
        "クライアントは {longer} であきらめ、ロードバランサーは {shorter} 待ちます。"
        "遅いリクエストは理由の分からないクライアントのタイムアウト(ロードバランサーのログでは 460)になり、"
        "処理自体は続くため、失敗と数えたリクエストの行も保存されます。",
    ),
    "rule.balancer_before_client.remedy": Words(
        "Let clients wait longer than {shorter}, or lower the timeouts behind them.",
        "クライアントを {shorter} より長く待たせるか、その先のタイムアウトを短くします。",
    ),
    "rule.answer_before_client.title": Words(
        "The application gives up before the client",
        "アプリケーションがクライアントより先に打ち切る",
    ),
    "rule.answer_before_client.consequence": Words(
        "The client gives up after {longer}, the application goes on {for_shorter}. Slow requests count as timeouts "
        "of the client without anybody's saying why, and what they ask for is still done: rows are stored for "
        "requests that count as failed.",
        "クライアントは {longer} であきらめ、アプリケーションは{for_shorter}続けます。"
        "遅いリクエストは理由の分からないクライアントのタイムアウトになり、処理自体は続くため、"
        "失敗と数えたリクエストの行も保存されます。",
    ),
    "rule.answer_before_client.remedy": Words(
        "Let the application give up, with an answer of its own, before {longer}.",
        "アプリケーション側で、{longer} より前に自分のエラー応答を返して打ち切ります。",
    ),
    "rule.client_idle_before_balancer.title": Words(
        "The client lets idle connections go before the load balancer ends them",
        "クライアントがロードバランサーより先にアイドル接続を手放す",
    ),
    "rule.client_idle_before_balancer.consequence": Words(
        "The client keeps idle connections {for_shorter}, the load balancer ends them after {longer}. A request on "
        "one that is just ending fails with “connection reset”; clients repeat a GET by themselves, a POST not.",
        "クライアントはアイドル接続を{for_shorter}保持し、ロードバランサーは {longer} で閉じます。"
        "閉じる瞬間の接続で送ったリクエストは connection reset で失敗します。GET は自動で再送されますが、POST "
        "はされません。",
    ),
    "rule.client_idle_before_balancer.remedy": Words(
        "Let the client's idle time be below {longer}.",
        "クライアントのアイドル時間を {longer} より短くします。",
    ),
    "rule.client_idle_before_app.title": Words(
        "The client lets idle connections go before the application ends them",
        "クライアントがアプリケーションより先にアイドル接続を手放す",
    ),
    "rule.client_idle_before_app.consequence": Words(
        "The client keeps idle connections {for_shorter}, the application ends them after {longer}. A request on "
        "one that is just ending fails with “connection reset”; clients repeat a GET by themselves, a POST not.",
        "クライアントはアイドル接続を{for_shorter}保持し、アプリケーションは {longer} で閉じます。"
        "閉じる瞬間の接続で送ったリクエストは connection reset で失敗します。GET は自動で再送されますが、POST "
        "はされません。",
    ),
    "rule.client_idle_before_app.remedy": Words(
        "Let the client's idle time be below {longer}, or raise the application's idle timeout.",
        "クライアントのアイドル時間を {longer} より短くするか、アプリケーションのアイドルタイムアウトを長くします。",
    ),
    "rule.handler_before_write.title": Words(
        "The handler gives up before the connection is cut",
        "接続が切られる前にハンドラーが打ち切る",
    ),
    "rule.handler_before_write.consequence": Words(
        "The handler gives up after {shorter}, the connection is cut after {longer}: its error can never be sent. "
        "The client sees an empty answer, behind a load balancer a 502.",
        "ハンドラーは {shorter} で打ち切りますが、接続は {longer} で切られるため、エラー応答を送れません。"
        "クライアントには空の応答、ロードバランサーの先では 502 になります。",
    ),
    "rule.handler_before_write.remedy": Words(
        "Set the handler's timeout some seconds below {longer}.",
        "ハンドラーのタイムアウトを {longer} より数秒短くします。",
    ),
    "rule.lock_wait_before_answer.title": Words(
        "A wait for a row's lock ends before the request does",
        "行ロックの待ちがリクエストより先に終わる",
    ),
    "rule.lock_wait_before_answer.consequence": Words(
        "A statement waits for a row's lock {for_shorter}, the request is given up after {longer}. Nobody learns "
        "that it was a lock, and the transaction holds its own locks meanwhile.",
        "ステートメントは行ロックを{for_shorter}待ち、リクエストは {longer} で打ち切られます。"
        "原因がロックだったことは誰にも伝わらず、その間トランザクションは自分のロックを持ち続けます。",
    ),
    "rule.lock_wait_before_answer.remedy": Words(
        "Set innodb_lock_wait_timeout of the application's sessions below {longer}.",
        "アプリケーションのセッションの innodb_lock_wait_timeout を {longer} より短くします。",
    ),
    "rule.measured_otherwise.title": Words("What is written is what is measured", "設定値と計測値が一致する"),
    "rule.measured_otherwise.consequence": Words(
        "It is written as {longer}, and measured as {shorter}. The configuration may not be deployed, or something "
        "between ends connections. What was measured counts.",
        "設定は {longer} ですが、計測では {shorter} でした。設定が反映されていないか、"
        "途中の何かが接続を閉じています。判定には計測値を使います。",
    ),
    "rule.measured_otherwise.remedy": Words(
        "Find out which process listens there, with which settings, and correct the one or the other.",
        "そこで待ち受けているプロセスとその設定を確かめ、どちらかを直します。",
    ),
    "rule.keep_alive_off.title": Words("The application keeps connections", "アプリケーションが接続を保つ"),
    "rule.keep_alive_off.consequence": Words(
        "The application ends each connection with its answer. Every request pays for a new one, and ports pile up "
        "in TIME_WAIT.",
        "アプリケーションは応答のたびに接続を閉じます。リクエストごとに新しい接続が必要になり、TIME_WAIT "
        "のポートがたまります。",
    ),
    "rule.keep_alive_off.remedy": Words(
        "Turn keep-alive on, with an idle timeout above the load balancer's.",
        "キープアライブを有効にし、アイドルタイムアウトをロードバランサーより長くします。",
    ),
    "rule.header_limit.title": Words("Reading a head has a limit", "ヘッダーの読み込みに上限がある"),
    "rule.header_limit.consequence": Words(
        "Reading a request's head has {shorter}: whoever sends it slowly holds a connection and its file "
        "descriptor. An ALB passes whole heads only; clients that come directly can do it.",
        "リクエストヘッダーの読み込みに許される時間は{shorter}です。ゆっくり送るだけで、"
        "接続とファイル記述子を占有できます。ALB は完全なヘッダーだけを渡しますが、"
        "直接つなぐクライアントには可能です。",
    ),
    "rule.header_limit.remedy": Words(
        "Set the limit to a few seconds (in Go ReadHeaderTimeout).",
        "数秒の上限を設定します(Go では ReadHeaderTimeout)。",
    ),
    "no_limit": Words("no limit", "無制限"),
    "for_ever": Words("for ever", "無期限に"),
    "for_some": Words("for {duration}", " {duration} "),
    "over": Words("over {duration}", "{duration}超"),
    "unit.ms": Words(" ms", "ミリ秒"),
    "unit.s": Words(" s", "秒"),
    "unit.min": Words(" min", "分"),
    "unit.h": Words(" h", "時間"),
    "unit.d": Words(" d", "日"),
    "between": Words(" ", ""),
}
