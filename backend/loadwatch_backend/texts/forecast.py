"""Forecasts of capacity: what is full first, why there is no number, what is in no point.

`{what}` is a resource's title in the same language, with what tells it from others of its kind.
"""

from loadwatch_backend.texts.words import Catalogue, Words

FORECAST: Catalogue = {
    "sentence.first": Words(
        "At about {rate} requests/s ({low} to {high}) the first limit is reached: {what}.",
        "約 {rate} リクエスト/秒({low}〜{high})で最初の上限に達する: {what}。",
    ),
    "sentence.reached": Words(
        "The first limit has been reached in a run, at {rate} requests/s: {what}.",
        "{rate} リクエスト/秒で実際に最初の上限に達した: {what}。",
    ),
    "sentence.next": Words(" Next: {what} at {rate}.", " 次は {what}({rate})。"),
    "sentence.overlaps": Words(
        " Then, or before it, for the intervals overlap: {what} at {rate}.",
        " 次は {what}({rate})。区間が重なるため順序は確定できない。",
    ),
    "sentence.none": Words(
        "No forecast: no resource has a number. Each says why.",
        "予測できない。数値を出せたリソースがない。理由はリソースごとに示す。",
    ),
    "sentence.nothing": Words(
        "No forecast: none of these runs has a resource with a limit measured while it lasted.",
        "予測できない。実行中に使用量と上限が測定されたリソースが1つもない。",
    ),
    "sentence.peak": Words(
        "Throughput peaks at about {rate} requests/s ({low} to {high}), with about {users} users.",
        "スループットの頂点は約 {rate} リクエスト/秒({low}〜{high})、ユーザー数は約 {users}。",
    ),
    "remark.curved": Words(
        "What a request needs changes with the load: the line bends, and the interval holds both ways on.",
        "1リクエストの消費量が負荷で変わる。直線から外れるため、区間は両方の見方を含む。",
    ),
    "refused.few-steps": Words(
        "Too few steps: {steps} of the {least} that a line takes. Run at more rates.",
        "段階が足りない: 直線に必要な {least} 段階のうち {steps} 段階。別のレートでも実行する。",
    ),
    "refused.narrow": Words(
        "The rates are too alike: {low} to {high} requests/s. The highest must be {least} times the lowest at least.",
        "レートの幅が狭い: {low}〜{high} リクエスト/秒。最大は最小の {least} 倍以上が必要。",
    ),
    "refused.underloaded": Words(
        "At the highest rate {used} of the limit was in use. Below {least} it shows the system at rest; load it more.",
        "最大レートでも使用率は {used}。{least} 未満では無負荷時の値と区別できない。負荷を上げる。",
    ),
    "refused.flat": Words(
        "Its use does not grow with the rate beyond doubt; at most {used} of the limit was in use.",
        "レートとともに増えるとは言えない。使用率は最大 {used}。",
    ),
    "refused.drifts": Words(
        "It grew while the rate stood still: time fills it, or it settles slowly. Hold each rate for longer.",
        "レートが一定の間も増え続けた。時間とともにたまるか、落ち着くのが遅い。各レートを長く保つ。",
    ),
    "refused.stock": Words(
        "What is kept, such as memory, fills with time and data, not with the rate.",
        "メモリのようにためるものは、レートではなく時間とデータで増える。",
    ),
    "refused.not-constant": Words(
        "What a request needs changes with the load, and {used} of the limit is too early to tell how that goes on.",
        "1リクエストの消費量が負荷で変わる。使用率 {used} では、その先を判断できない。",
    ),
    "refused.few-users": Words(
        "{steps} numbers of users were tried; the law has three coefficients and needs {least} of them.",
        "試したユーザー数は {steps} 通り。係数が3つあるため {least} 通り必要。",
    ),
    "refused.growing": Words(
        "The rate grows with the users all along: nothing tells where it would peak.",
        "ユーザー数とともにレートが増え続けており、頂点の位置を示すものがない。",
    ),
    "refused.before-the-bend": Words(
        "The last step is at {share} of the fitted peak. Before {least} of it nobody can tell where the peak is.",
        "最後の段階は推定した頂点の {share}。{least} に届くまで頂点の位置は判断できない。",
    ),
    "refused.bend-unsure": Words(
        "The runs fit a system without a peak as well; it would be above {low} requests/s.",
        "頂点のないシステムとしても説明できる。頂点があるとしても {low} リクエスト/秒より上。",
    ),
    "refused.no-users": Words(
        "No load tool of these runs told how many users were at work.",
        "これらの実行では、負荷ツールが同時ユーザー数を報告していない。",
    ),
    "left.warm-up": Words("warm-up", "ウォームアップ"),
    "left.ramp-down": Words("end of the run", "実行の終わり"),
    "left.failures": Words("more than 2 % of the requests failed", "リクエストの2%超が失敗"),
    "left.transient": Words("the rate had just changed", "レートの変化直後"),
    "left.others": Words("programs that are not watched filled the host", "監視対象外のプログラムがホストを占有"),
    "left.no-data": Words("use or limit not known", "使用量または上限が不明"),
    "little.consistent": Words("rate x time = users: consistent", "レート×時間=ユーザー数: 整合"),
    "little.think-time": Words(
        "users also waited between requests, or the tool held them back",
        "ユーザーがリクエストの間で待機していたか、ツールが抑えていた",
    ),
    "little.inconsistent": Words(
        "more requests at work than users: one of the three figures is wrong",
        "処理中のリクエストがユーザー数を超える: 3つの数値のどれかが誤り",
    ),
}
