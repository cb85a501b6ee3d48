import { expect, it } from "vitest";
import { reasons } from "@/app/locales/reasons.ja";
import { sayReason } from "./reason";

it.each([
  ["answered 503", "503 を返しました"],
  ["answered 503 and asks to wait 30 s", "503 を返しました。30秒待つよう求めています"],
  [
    "a test, not tried again: connection refused: nothing listens there",
    "テスト送信のため再送しません: 接続を拒否されました: 待ち受けているものがありません",
  ],
  ["the mail server refused: 550 no such user", "メールサーバーが拒否しました: 550 no such user"],
  [
    "GET http://127.0.0.1:6060/debug/pprof/heap: connection refused; is the server running on this port?",
    "GET http://127.0.0.1:6060/debug/pprof/heap: 接続を拒否されました。このポートでサーバーが動いているか確認してください",
  ],
  [
    "GET http://127.0.0.1:6060/x: answered 401 no; give bearer_token_file or headers that the server accepts",
    "GET http://127.0.0.1:6060/x: 401 no を返しました。サーバーが受け付ける bearer_token_file か headers を設定してください",
  ],
  [
    "10.0.0.7 is a private network; notifications go to public addresses only. Add its network to LOADWATCH_NOTIFY_NETWORKS to allow it",
    "10.0.0.7 は公開アドレスではありません (a private network)。通知は公開アドレスにのみ送られます。許可するには、そのネットワークを LOADWATCH_NOTIFY_NETWORKS に加えてください",
  ],
  ["rate_limited by $1 and $&", "rate_limited by $1 and $&"],
  ["refused: $2", "拒否されました: $2"],
])("says %j", (english, japanese) => {
  expect(sayReason(english, reasons)).toBe(japanese);
});

it("every sentence is one that the server or an agent says", async () => {
  const { readdirSync, readFileSync } = await import("node:fs");
  const { join } = await import("node:path");
  const root = join(import.meta.dirname, "../../../..");
  const sources = [
    "backend/loadwatch_backend/alerting/notify",
    "collectors/loadwatch_collectors",
    "formats/loadwatch_formats",
  ].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".py"))
      .map((name) => readFileSync(join(root, folder, name), "utf8")),
  );
  const text = sources.join("\n").replace(/"\n\s+[f']*"|'\n\s+f?"|"\n\s+f?'/g, "");
  // The longest run of plain words of a pattern stands in the source that says it.
  const words = (pattern: string) =>
    pattern
      .replaceAll("(?:read|listed)", "read")
      .split(/\\[()]|\((?:\\.|[^()\\])*\)/)
      .map((part) => part.replace(/\\(.)/g, "$1"))
      .sort((a, b) => b.length - a.length)[0] ?? "";
  expect(reasons.map(([pattern]) => words(pattern)).filter((said) => !text.includes(said))).toEqual([]);
});
