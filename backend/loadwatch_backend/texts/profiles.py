"""What known frames of a profile mean: `frame.<key>`, after the name of the function; and the words around them."""

from loadwatch_backend.texts.words import Catalogue, Words

PROFILES: Catalogue = {
    "frame.pool-wait": Words("waits for a connection of the pool", "コネクションプールの空きを待っています"),
    "frame.pool-lock": Words("holds the pool's own lock", "プール自身のロックを保持しています"),
    "frame.lock-wait": Words(
        "waits for a lock of the application itself", "アプリケーション自身のロックを待っています"
    ),
    "frame.lock-held": Words(
        "gave back a lock that others were waiting for", "他が待っていたロックをここで解放しました"
    ),
    "frame.lock-spin": Words("spends CPU on a lock that is taken", "取られているロックに CPU を使っています"),
    "frame.runtime-lock": Words("a lock inside Go's runtime", "Go ランタイム内部のロックです"),
    "frame.group-wait": Words("waits for other goroutines to finish", "他の goroutine の終了を待っています"),
    "frame.channel-wait": Words("waits for a channel", "チャネルを待っています"),
    "frame.sleep": Words("sleeps on purpose", "意図して眠っています"),
    "frame.parked": Words("asleep until something wakes it", "何かに起こされるまで眠っています"),
    "frame.database-answer": Words("waits for the database's answer", "データベースの応答を待っています"),
    "frame.database-connect": Words(
        "opens a new connection to the database", "データベースへの新しい接続を開いています"
    ),
    "frame.database-prepare": Words(
        "prepares a statement, a round trip of its own", "ステートメントを準備しています(往復が一回増えます)"
    ),
    "frame.database-rows": Words("reads rows of a result", "結果の行を読んでいます"),
    "frame.database-commit": Words("ends a transaction", "トランザクションを終えています"),
    "frame.database-call": Words("calls the database", "データベースを呼び出しています"),
    "frame.redis": Words("calls Redis", "Redis を呼び出しています"),
    "frame.http-handler": Words(
        "serves requests: the handlers are below it", "リクエストを処理しています(ハンドラーはこの下)"
    ),
    "frame.http-call": Words("calls another service over HTTP", "HTTP で他のサービスを呼び出しています"),
    "frame.tls": Words("encrypts and decrypts (TLS)", "暗号化と復号(TLS)です"),
    "frame.bcrypt": Words("hashes a password, which is slow on purpose", "パスワードのハッシュです(意図的に遅い処理)"),
    "frame.hash": Words("computes a hash", "ハッシュを計算しています"),
    "frame.json": Words("reads or writes JSON", "JSON の読み書きです"),
    "frame.template": Words("fills in a template", "テンプレートを展開しています"),
    "frame.compress": Words("compresses or decompresses", "圧縮または展開です"),
    "frame.regexp": Words("matches a regular expression", "正規表現の照合です"),
    "frame.log": Words("writes a log", "ログを書いています"),
    "frame.name-lookup": Words("looks up a name (DNS)", "名前を解決しています(DNS)"),
    "frame.dial": Words("opens a network connection", "ネットワーク接続を開いています"),
    "frame.gc-assist": Words(
        "helps the garbage collector, because it allocates", "メモリーを割り当てる側が GC を手伝っています"
    ),
    "frame.gc": Words("garbage collection", "ガベージコレクションです"),
    "frame.allocate": Words("allocates memory", "メモリーを割り当てています"),
    "frame.copy-memory": Words("copies or clears memory", "メモリーのコピーまたは消去です"),
    "frame.scheduler": Words("Go's scheduler looks for work", "Go のスケジューラーが仕事を探しています"),
    "frame.threads": Words("puts threads to sleep and wakes them", "スレッドを眠らせ、起こしています"),
    "frame.file-io": Words("reads or writes a file", "ファイルの読み書きです"),
    "frame.io-wait": Words("waits for the network", "ネットワークを待っています"),
    "frame.io": Words("reads or writes the network or a file", "ネットワークかファイルの読み書きです"),
    "frame.system-call": Words("a call of the kernel", "カーネルの呼び出しです"),
    "frame.profiling": Words("the taking of the profile itself", "プロファイルの取得そのものです"),
    "below": Words("{meaning}, below {function}", "{meaning}({function} の下)"),
}
