/**
 * Why a message was not delivered or a profile not taken, as senders and agents say it: they keep the sentence, with
 * its particulars, and no code. So its Japanese is found by the sentence; `$1` is said by this table too. What is not
 * here (a mail server's own words) stays as it came.
 */
export const reasons: readonly (readonly [pattern: string, japanese: string])[] = [
  ["no whole answer within the time for one attempt", "1回の送信に許された時間内に応答が完了しませんでした"],
  ["the certificate is not to be trusted: (.*)", "証明書を信頼できません: $1"],
  [
    "TLS failed: (.*); ca_file names the certificates to trust",
    "TLS に失敗しました: $1。信頼する証明書は ca_file で指定します",
  ],
  ["TLS failed: (.*)", "TLS に失敗しました: $1"],
  ["the name has no address: (.*)", "ホスト名のアドレスが見つかりません: $1"],
  ["connection refused: nothing listens there", "接続を拒否されました: 待ち受けているものがありません"],
  [
    "connection refused; is the server running on this port\\?",
    "接続を拒否されました。このポートでサーバーが動いているか確認してください",
  ],
  ["the connection was closed before the answer was whole", "応答が完了する前に接続が閉じられました"],
  ["the connection was closed", "接続が閉じられました"],
  ["the answer has no end", "応答が終わりません"],
  ["the answer is not HTTP: (.*)", "応答が HTTP ではありません: $1"],
  ["a header of the request holds characters that headers may not", "リクエストのヘッダーに使えない文字があります"],
  ["tls_config: (.*)", "tls_config: $1"],
  ["a file is no certificate or key in PEM form \\((.*)\\)", "ファイルが PEM 形式の証明書や鍵ではありません ($1)"],
  ["(.*) and asks to wait (\\d+) s", "$1。$2秒待つよう求めています"],
  [
    "answered (\\d+), pointing to (.*); redirects are not followed",
    "$1 で $2 へ転送されましたが、転送先には送りません",
  ],
  ["answered 410 Gone: nobody takes messages there any more", "410 Gone を返しました: 受信先はもうありません"],
  [
    "answered (\\d+) (.*); give bearer_token_file or headers that the server accepts",
    "$1 $2 を返しました。サーバーが受け付ける bearer_token_file か headers を設定してください",
  ],
  [
    "answered (\\d+) (.*); redirects are not followed, configure the final address",
    "$1 $2 を返しました。転送先は開かないため、最終的なアドレスを設定してください",
  ],
  ["answered (\\d+)(.*)", "$1$2 を返しました"],
  ["nowhere", "宛先なし"],
  ["something that is no address", "アドレスでないもの"],
  ["another path of its own", "同じホストの別のパス"],
  [
    "(\\S+) is (.*); notifications go to public addresses only\\. Add its network to LOADWATCH_NOTIFY_NETWORKS to allow it",
    "$1 は公開アドレスではありません ($2)。通知は公開アドレスにのみ送られます。許可するには、そのネットワークを LOADWATCH_NOTIFY_NETWORKS に加えてください",
  ],
  ["a test, not tried again: (.*)", "テスト送信のため再送しません: $1"],
  ["stopped by (?:somebody)", "送信が止められました"],
  ["stopped by (.*)", "$1 が送信を止めました"],
  [
    "overtaken: a later message of the same group, with all that fires in it, was delivered first",
    "追い越されました: 発火中のものをすべて含む、同じグループの後のメッセージが先に届きました",
  ],
  [
    "replaced: a later message of the same group tells of the same alerts",
    "置き換えられました: 同じグループの後のメッセージが同じアラートを伝えます",
  ],
  [
    "crowded out: more than (\\d+) messages of the same group wait, and the later ones tell what is so",
    "取り下げられました: 同じグループで$1件を超えるメッセージが待っており、後のものが現状を伝えます",
  ],
  [
    "given up: nothing in it fires any more, and it could not be delivered for 24 hours",
    "断念しました: 24時間届けられず、含まれるアラートはすべて終わっています",
  ],
  [
    "given up: for 24 hours the configuration has had no such receiver or integration",
    "断念しました: 24時間、設定にこの受信先または連携がありません",
  ],
  ["the configuration has no receiver (.*) with an integration (.*)", "設定に、連携 $2 を持つ受信先 $1 がありません"],
  ["refused: (.*)", "拒否されました: $1"],
  ["the mail server refused: (.*)", "メールサーバーが拒否しました: $1"],
  ["the mail server cannot do it: (.*)", "メールサーバーが対応していません: $1"],
  ["the mail server closed the connection", "メールサーバーが接続を閉じました"],
  ["not taken for (.*)", "受け付けられなかった宛先: $1"],

  [
    "(\\w+) is not among this target's kinds \\((.*)\\); add it to pprof\\.kinds",
    "$1 は対象の kinds ($2) にありません。pprof.kinds に加えてください",
  ],
  [
    "GET (\\S+): the (\\w+) profile is not in pprof's format: (.*)",
    "GET $1: $2 プロファイルが pprof 形式ではありません: $3",
  ],
  [
    "GET (\\S+): expected Prometheus' text format, but the page is (.*)",
    "GET $1: Prometheus のテキスト形式ではありません: $2",
  ],
  [
    "GET (\\S+): expected JSON with sql\\.DBStats, but the page is (.*)",
    "GET $1: sql.DBStats を含む JSON ではありません: $2",
  ],
  [
    "GET (\\S+): no sql\\.DBStats in the document \\((.*)\\); `pools` says where they are, or expose json\\.Marshal of db\\.Stats\\(\\)",
    "GET $1: sql.DBStats が見つかりません ($2)。`pools` で場所を指定するか、db.Stats() を json.Marshal で公開してください",
  ],
  [
    "GET (\\S+): no profiles are listed there \\((.*)\\); url must lead to (.*)",
    "GET $1: プロファイルの一覧がありません ($2)。url は $3",
  ],
  ["no process is found by (.*); is it running\\?", "$1 のプロセスが見つかりません。動いているか確認してください"],
  ["the pid file (.*) does not begin with a number", "PID ファイル $1 が数字で始まっていません"],
  [
    "(.*): the last line with db\\.Stats\\(\\) is older than ([\\d.]+) s; has the application stopped logging it\\?",
    "$1: db.Stats() の最後の行から$2秒以上たっています。アプリケーションが記録を止めていないか確認してください",
  ],
  [
    "(.*): no line with db\\.Stats\\(\\) yet; it must be logged with (.*)",
    "$1: db.Stats() の行がまだありません。$2 の形で記録してください",
  ],
  [
    "the slow log (.*) cannot be read: (.*); the agent's user needs to read it, and the server must have slow_query_log=ON",
    "スローログ $1 を読み取れません: $2。エージェントのユーザーに読み取り権限を与え、サーバーで slow_query_log=ON にしてください",
  ],
  ["(.*) cannot be (?:read|listed): (.*)", "$1 を読み取れません: $2"],
  [
    "MySQL at (\\S+): there is no table (\\S+) that (\\S+) may see",
    "MySQL ($1): ユーザー $3 から見えるテーブル $2 がありません",
  ],
  ["GET (\\S+): no complete answer within ([\\d.]+) s", "GET $1: $2秒以内に応答が完了しませんでした"],
  ["GET (\\S+): the body is larger than (\\d+) bytes; (.*)", "GET $1: 応答が$2バイトを超えています。$3"],
  ["GET (\\S+): (.*)", "GET $1: $2"],
];
