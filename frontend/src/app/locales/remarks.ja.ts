/**
 * Remarks of imports and analyses, by their stable codes. The server writes them in English, with all particulars, so
 * only their Japanese is here; `{name}` is one of the remark's figures.
 */
export const remarks: Readonly<Record<string, string>> = {
  damaged: "読み取れない部分を除いて取り込みました。",
  "damaged-more": "ほか{places}か所も破損しています。",
  compression: "圧縮ファイルが途中で壊れています。それより前は取り込みました。",
  "broken-off": "破損のため途中までしか読み取れませんでした。それより前は取り込み、後は失われています。",
  "absurd-time": "日時がほかと7日以上離れたリクエスト{requests}件を除きました。",
  "absurd-latency": "応答時間が負、または1日を超えるリクエスト{requests}件を除きました。",
  "absurd-bytes": "リクエスト{requests}件のバイト数はありえない値のため除きました。リクエスト自体は数えています。",
  endpoints:
    "エンドポイント名が多すぎるため、後のものは (other) に数えました。変化する部分を除いた名前を付けてください。",
  "endpoints-shown": "リクエストの多いエンドポイントだけを表示し、残りは1つにまとめました。",
  "one-result-only": "ファイルはそれぞれ別の結果です。最初のものだけを読み取りました。1つずつ取り込んでください。",
  "other-files": "アーカイブ内のほかの形式のファイルは取り込みませんでした。",
  "no-wall-clock": "ツールが日時を書かないため、開始時刻は指定されたもの、または開始からの時間です。",
  "start-assumed":
    "ファイルに日時がなく開始時刻も指定されていないため、取り込み時に終わったものとして表示します。開始時刻を指定して取り込み直すと、正しい時間のサンプルと並びます。",
  "other-window": "ファイルの時刻が実行の時間外です。別の実行の結果か、負荷生成側の時計がずれていた可能性があります。",
  "live-figures": "結果ファイルがないため、実行中に送られた系列から計算しました。",
  "live-figures-k6":
    "結果ファイルがないため、k6 自身の系列から計算しました。k6 のレイテンシーは累積値のため表示しません。",
  "estimated-percentiles": "個々のリクエストが残っていないため、定常区間のパーセンタイルは毎秒の値からの推定です。",

  "vegeta-estimates":
    "vegeta のレポートのパーセンタイルは推定値（t-digest）のため少し異なります。ここに示すのは実際に測定された値です。",
  "k6-thresholds": "k6 自身のしきい値は、ここでの判定には使いません。",
  "k6-other-protocols": "HTTP 以外のリクエストは数えていません。",
  "k6-checks":
    "k6 のチェックが{failed_checks}件失敗しました。どのリクエストのものか分からないため、失敗には数えていません。",
  "k6-checks-attributed":
    "失敗したチェック{failed_checks}件は、同じユーザーの同じ反復の直前のリクエストの失敗と数えました。http.batch() の後では別のリクエストの可能性があります。",
  "impossible-totals":
    "時間またはレートがありえない値のため、それに基づくものは除きました。生成側の時計が変更されましたか。",
  "k6-points-missing":
    "http_reqs は{http_reqs}件、http_req_duration は{http_req_duration}件です。所要時間のないリクエストは数えていません。",
  "k6-bytes": "k6 はバイトをリクエストごとではなく反復ごとに数えます：受信 {bytes_in}、送信 {bytes_out}。",
  "k6-whole-seconds":
    "時刻が秒単位のため、1秒ずれて表示されることがあります。K6_CSV_TIME_FORMAT=unix_nano で正確になります。",
  "k6-expected-statuses": "スクリプトが想定した 400 以上の応答{requests}件を k6 は成功と数えますが、ここでは失敗です。",
  "k6-no-outcome": "結果を示すタグのないリクエストが{requests}件あり、応答ありとして数えました。",
  "k6-no-series": "k6 のサマリーには合計しかありません。`--out json=FILE` で全リクエストが書き出されます。",
  "k6-interpolated": "k6 のパーセンタイルは測定値の間を補間したものです。",
  "k6-failure-kinds": "失敗{failed}件の種類はサマリーから分からないため、その他に数えました。",
  "k6-percentiles": "サマリーにないパーセンタイルがあります。k6 の summaryTrendStats で追加できます。",
  "locust-rounded-percentiles":
    "Locust は応答時間を有効数字2桁に丸めてからパーセンタイルを求めます。平均・最小・最大は正確です。",
  "locust-by-end": "Locust はリクエストを終了した秒に数えます。",
  "locust-last-second": "Locust は CSV を毎秒書くため、最後の書き込み後に終わったものは含まれません。",
  "locust-exceptions": "locustfile 自体が{exceptions}回失敗しました。リクエストではないため数えていません。",
  "locust-percentiles": "ファイルに全体のパーセンタイルの一部がありません。",
  "locust-no-history": "_stats_history.csv がないため、毎秒の値と日時が分かりません。",
  "locust-ten-second-percentiles": "毎秒のパーセンタイルは Locust の直近10秒の値です。リクエスト数と失敗数は正確です。",
  "locust-cumulative-percentiles":
    "--csv-full-history がないとパーセンタイルは累積値になるため、毎秒の値は表示しません。",
  "locust-reset-stats": "Locust の合計が{restarts}回初期化されました。それより前は系列にのみ含まれます。",
  "locust-failure-kinds": "_failures.csv がないため、失敗{failures}件の種類は分からず、その他に数えました。",
  "gatling-no-status": "Gatling のログには、失敗したチェックを除いて HTTP ステータスがなく、バイト数もありません。",
  "gatling-errors": "リクエスト以外で{errors}件のエラーがありました。リクエストには数えていません。",
  "gatling-incoming": "待たれていない受信イベント（WebSocket、SSE）{events}件は数えていません。",
  "jmeter-transactions": "Transaction Controller の{rows}行は、個々のリクエストの合計のため数えていません。",
  "jmeter-transactions-only": "ファイルにはトランザクションしかありません。それぞれを1リクエストと数えました。",
  "jmeter-excused": "400 以上の応答{requests}件は、JMeter が成功とみなすため成功に数えました。",
  "jmeter-summed-rows": "{rows}行は複数のサンプルの合計です（SampleCount）。1行を1リクエストとして読みました。",
  "jmeter-sub-samples": "リダイレクトや埋め込みリソースも、JMeter のダッシュボードと同じく1リクエストと数えます。",
  "jmeter-last-20000":
    "JMeter のダッシュボードは最後の 20,000 サンプルからパーセンタイルを求めます（p95 {tool_p95}）。全体では p95 {ours_p95} です。",
  "jmeter-no-time-zone": "時刻にタイムゾーンがないため UTC とみなしました。",
  "jmeter-no-success": "success も responseCode もないため、すべて成功と数えました。",
  "hey-no-failures":
    "hey の CSV には応答のあったリクエストしかありません。タイムアウトやリセット、接続拒否は含まれません。",
  "hey-four-decimals": "hey の時間は 0.1 ms 単位で、サイズは書かれません。",
  "hey-no-series": "hey のサマリーには合計しかありません。`hey -o csv` で応答のあったリクエストが書き出されます。",
  "hey-row-limit": "hey は最初の 1,000,000 件の応答しか残しません。それ以降は含まれません。",
  "hey-latency-of-answers": "hey のレイテンシーには、応答のなかった{failed}件が含まれません。",
  "oha-no-failures": "応答のあったリクエストしかありません。失敗は `--output-format json` で数えられます。",
  "oha-whole-seconds": "oha のデータベースの開始時刻は秒単位です。",
  "oha-no-series": "oha の JSON には合計しかありません。`--db-url` で応答のあったリクエストが書き出されます。",
  "oha-other-runs": "データベースに{runs}回分の実行があります。最新のものを読みました。",
  "oha-deadline": "時間切れの時点で{cut_off}件が処理中でした。oha はレートに数えますが、ここでは数えません。",
  "oha-latency-of-answers": "oha のレイテンシーには、応答のなかった{failed}件が含まれません。",
  "wrk-no-series": "wrk は合計しか書きません。終了時に応答のなかったリクエストは含まれません。",
  "wrk-rounded": "wrk の値は3桁以下です。表示されないパーセンタイルは示しません。",
  "wrk-socket-errors": "wrk のリクエスト数とレートには、接続に失敗したものが含まれません。ここでは数えています。",
  "wrk-timeouts":
    "{timeouts}件の応答が wrk のタイムアウトより遅れました。レイテンシーに含まれないため、パーセンタイルと最大は実際より良く見えます。",
  "wrk-failure-kinds":
    "wrk は 4xx と 5xx を区別しません（その他に数えます）。接続エラーは接続拒否、読み書きのエラーはリセットとして数えました。",
  "artillery-estimates":
    "Artillery のパーセンタイルは最大1%の誤差のある推定値で、応答のあったリクエストだけのものです。",
  "artillery-ten-seconds": "Artillery は10秒ごとに値を書くため、その間のリクエストを各秒に均等に割り当てました。",
  "artillery-no-endpoints": "レポートはエンドポイントを区別しません。プラグイン metrics-by-endpoint で区別できます。",
  "artillery-unexplained": "{requests}件のリクエストにはステータスも既知のエラーもないため、その他に数えました。",
};
