import { MantineProvider } from "@mantine/core";
import { renderToStaticMarkup } from "react-dom/server";
import { I18nextProvider } from "react-i18next";
import { beforeAll, expect, it } from "vitest";
import type { Comparison } from "@/api/compare/types";
import { i18n, loadPageTexts, startI18n } from "@/app/i18n";
import { comparison, group } from "@/testing/compare-fixtures";
import { decodeCompare } from "../model/state";
import { EndpointTable } from "./endpoint-table";
import { Remarks, Repeats } from "./remarks";

beforeAll(async () => {
  await startI18n("en");
  await loadPageTexts();
});

const page = (data: Comparison) =>
  renderToStaticMarkup(
    <MantineProvider>
      <I18nextProvider i18n={i18n}>
        <Remarks data={data} />
        <Repeats data={data} />
        <EndpointTable
          data={data}
          slots={new Map()}
          state={{ ...decodeCompare(new URLSearchParams()), measure: "share" }}
          onChange={() => undefined}
        />
      </I18nextProvider>
    </MantineProvider>,
  );

it("says which figure repeats well, and that nobody can tell before there are equal runs", () => {
  const metric = { id: "rate", title: "Requests sent", unit: "per_second", orientation: "more_is_better", help: "" };
  const repeats = [{ metric, scatter: 0.012, runs: 3 }];
  expect(page(comparison({ repeats }))).toContain("How well figures repeat over equal runs (3): Requests sent ±1.20%.");
  expect(page(comparison())).toContain("Which figure repeats well cannot be told");
});

it("says that the mix of requests differs, and shows each endpoint's share", () => {
  const endpoint = (name: string, share: number[]) => ({
    ...{ name, share, requests: [10, 10], rate: [1, 1], failure_ratio: [0, 0], p95_seconds: [1, 1], percentiles: {} },
  });
  const data = comparison({
    groups: [group("a", ["a"], true), group("b", ["b"])],
    endpoints: [endpoint("GET /timeline", [0.75, 0.5]), endpoint("POST /register", [0.25, 0.5])],
    remarks: ["mix-differs"],
  });
  const text = page(data);
  expect(text).toContain("The mix of requests differs: see the share of each endpoint.");
  const rows = [...text.matchAll(/<th scope="row"[^>]*>([^<]*)<\/th>(.*?)<\/tr>/g)].map(([, name, cells = ""]) => [
    name,
    ...[...cells.matchAll(/<td[^>]*>([^<]*)/g)].map(([, cell]) => cell),
  ]);
  expect(rows).toEqual([
    ["GET /timeline", "75%", "50%", "−33.3%"],
    ["POST /register", "25%", "50%", "+100%"],
  ]);
});
