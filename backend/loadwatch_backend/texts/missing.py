"""What would have counted or profiled a run, and did not."""

from loadwatch_backend.texts.words import Catalogue, Words

MISSING: Catalogue = {
    "failed": Words(
        "The collector {collector} of {instance} failed during the run: {error}",
        "{instance} のコレクター {collector} が実行中に失敗していました: {error}",
    ),
    "no_profiles": Words(
        "No CPU profile was taken: add `pprof: {url: …}` to the target of a Go application in loadwatch.yml, or "
        "drop a profile on the section Profiles.",
        "CPUプロファイルがありません。loadwatch.yml の Go アプリケーションのターゲットに `pprof: {url: …}` を"
        "追加するか、「プロファイル」にファイルをドロップしてください。",
    ),
}
