"""Why a run's verdict is what it is, and what is to be said of its load generator."""

from loadwatch_backend.texts.words import Catalogue, Words

REASONS: Catalogue = {
    "aborted": Words("the run was aborted", "実行が中断された"),
    "no-requests": Words("no request was sent", "リクエストが送信されなかった"),
    "generator-saturated": Words(
        "the load generator was the limit: {generator}",
        "負荷生成側が限界に達していた: {generator}",
    ),
    "not-measured": Words("a threshold could not be measured", "測定できないしきい値があった"),
    "state_ok": Words("It sent what it was asked to.", "指示どおりに送信できた。"),
    "state_suspect": Words("It may have been the limit itself.", "負荷生成側が限界だった可能性がある。"),
    "state_saturated": Words(
        "It was the limit itself: the figures describe the generator.",
        "負荷生成側が限界に達していた。数値はシステムではなく負荷生成側の限界を示す。",
    ),
    "state_held-back": Words(
        "Target rate not reached: clients waited for answers. The figures are the system's.",
        "目標レート未達: クライアントが応答を待っていた。数値はシステムのもの。",
    ),
    "state_unknown": Words(
        "Nothing tells whether it could send what it was asked to.",
        "指示どおりに送信できたか判断できない。",
    ),
    "rate-not-reached": Words(
        "it sent {reached} of the {target} asked for",
        "指示された {target} のうち {reached} しか送信できなかった",
    ),
    "dropped-iterations": Words(
        "it dropped {dropped} iterations, as no user was free (k6: maxVUs is too small for answers this slow)",
        "空いているユーザーがなく、反復を {dropped} 件取りこぼした(k6: この応答時間に対し maxVUs が小さい)",
    ),
    "cpu": Words("its own process was at the limit of its CPU", "負荷生成プロセス自身が CPU の限界に達していた"),
    "gaps": Words("in some seconds it sent less than half of its usual rate", "送信が普段の半分に満たない秒があった"),
    "late-sends": Words("its sends were more than a second late", "送信が1秒を超えて遅れた"),
    "own-errors": Words(
        "requests failed for want of its own ports or descriptors",
        "負荷生成側のポートまたはファイル記述子が足りず、リクエストが失敗した",
    ),
    "waited-for-answers": Words("its clients waited for answers", "クライアントが応答を待っていた"),
    "host-busy": Words(
        "its host was busy up to {host}, which may be the system under load itself",
        "負荷生成ホストのCPU使用率が最大 {host} に達した(試験対象のシステムによる可能性もある)",
    ),
    "between": Words("; ", "、"),
}
