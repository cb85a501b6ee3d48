import { render, screen } from "@testing-library/react";
import { beforeAll, expect, it } from "vitest";
import type { KeyFigure } from "@/api/runs/types";
import { startI18n } from "@/app/i18n";
import { KeyFigures } from "./key-figures";

beforeAll(() => startI18n("en"));

const figure = (part: Partial<KeyFigure>): KeyFigure => ({
  ...{ id: "p95", unit: "seconds", value: 0.24, window: "steady", against: null, base: "", threshold: "" },
  ...{ state: null, kinds: [], note: "", ...part },
});
const shown = (figures: readonly KeyFigure[], baseline: readonly KeyFigure[] = [], soFar = false) => {
  const { container } = render(<KeyFigures figures={figures} baseline={baseline} soFar={soFar} />);
  return [...container.querySelectorAll("dl > div")].map((one) =>
    [...one.querySelectorAll("dt, dd")].map((part) => part.textContent?.trim()).join(" | "),
  );
};

it("says of each figure what it covers and what it is held against", () => {
  const rate = { unit: "per_second", value: 180, against: 200, base: "target", window: "whole" };
  const failed = { id: "error_rate", unit: "ratio", value: 0.00001, kinds: ["http_5xx", "timeout", "odd"] };
  const part = { value: 0.2, against: 0.3, base: "threshold", threshold: "p99<300ms", window: "60s..120s" };
  const stored = { id: "stored", unit: "count", value: 5372, against: 5389, base: "accepted", window: "whole" };
  expect(
    shown([
      figure({ id: "ok_rate", ...rate }),
      figure({ id: "p99", state: "passed", ...part }),
      figure(failed),
      figure(stored),
    ]),
  ).toEqual([
    "Good answers whole run | 180/s | of 200/s asked for",
    "Response p99 60s–120s | 200 ms | Passed p99<300ms",
    "Failed steady window | 0.01% | HTTP 5xx, Timeout, odd",
    "Stored in the database whole run | 5,372 | of 5,389 accepted, 17 missing",
  ]);
});

it("says why there is no value, and what covers a run under way", () => {
  const unknown = figure({
    value: null,
    note: "not-measured",
    threshold: "p95<1s",
    state: "unknown",
    base: "threshold",
  });
  expect(shown([unknown])).toEqual(["Response p95 | – | Not measured p95<1s"]);
  expect(shown([figure({ value: null, note: "no-result" })])).toEqual(["Response p95 | – | no result to read it from"]);
  expect(shown([figure({ window: "whole" })], [], true)[0]).toContain("so far");
});

it("stands beside the baseline's figure of the same part", () => {
  shown([figure({})], [figure({ value: 0.12 })]);
  expect(screen.getByText("baseline 120 ms")).toBeTruthy();
  expect(screen.getByText("+100%")).toBeTruthy();
});

it("names a figure of the user's own by its own name, to the last digit", () => {
  const score = figure({ id: "figure:score", unit: "", value: 12345, window: "whole" });
  const lag = { ...score, id: "figure:lag", value: 0.25 };
  const whole = [
    score,
    { ...score, id: "figure:b", value: 12345.5 },
    lag,
    { ...lag, id: "figure:c", unit: "seconds", value: 3 },
  ];
  expect(shown(whole).map((text) => text.split(" | ")[1])).toEqual(["12,345", "12,346", "0.250", "3 s"]);
  expect(shown([lag])).toEqual(["lag whole run | 0.250 | "]);
});
