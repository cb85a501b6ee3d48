/** A load test's result, and ways in for it: vegeta's CSV, written here so that its figures are known. */
import { type APIRequestContext, expect, type Page } from "@playwright/test";

export interface ResultShape {
  /** Requests per second, and for how many seconds. */
  readonly rate: number;
  readonly seconds: number;
  readonly latencyMs: number;
  /** Every so many requests one is answered with 500; 0 for none. */
  readonly failEvery: number;
  readonly startMs: number;
}

export const RESULT: ResultShape = {
  ...{ rate: 40, seconds: 60, latencyMs: 20, failEvery: 50 },
  startMs: Date.UTC(2026, 9, 5, 9, 0, 0),
};

/** Lines of `vegeta encode --to csv`: time, status, latency, bytes out and in, error, body, name, sequence, method, URL, headers. */
export function vegetaCsv(shape: ResultShape): string {
  const lines: string[] = [];
  for (let at = 0; at < shape.rate * shape.seconds; at += 1) {
    const timeNs = BigInt(shape.startMs) * 1_000_000n + (BigInt(at) * 1_000_000_000n) / BigInt(shape.rate);
    const failed = shape.failEvery > 0 && at % shape.failEvery === shape.failEvery - 1;
    // A saw of latencies, so that percentiles differ from each other; every second has the same.
    const latencyNs = BigInt(Math.round(shape.latencyMs * (1 + (at % shape.rate) / shape.rate) * 1e6));
    const url = at % 3 === 0 ? "http://127.0.0.1:18081/profile" : "http://127.0.0.1:18081/";
    lines.push(
      [
        ...[timeNs, failed ? 500 : 200, latencyNs, 0, 12],
        ...[failed ? "500 Internal Server Error" : "", "aGVsbG8=", "", at, "GET", url, ""],
      ].join(","),
    );
  }
  return `${lines.join("\n")}\n`;
}

/** What is told of a run, by the interface's names. */
export type Facts = Readonly<Record<string, string>> & { readonly name: string };

/** Imports a result as the command line does; answers with the run's id. */
export async function addRun(request: APIRequestContext, facts: Facts, shape = RESULT): Promise<string> {
  const address = `/api/imports?${new URLSearchParams(facts)}`;
  const headers = { "Content-Type": "application/octet-stream" };
  const sent = await request.post(address, { data: vegetaCsv(shape), headers });
  expect(sent.status(), await sent.text()).toBe(202);
  const { id } = (await sent.json()) as { id: string };
  let run: string | null = null;
  await expect
    .poll(async () => {
      const job = (await (await request.get(`/api/imports/${id}`)).json()) as { state: string; run: string | null };
      run = job.run;
      return job.state;
    })
    .toBe("done");
  return run ?? "";
}

/** The page of a run that is there already. */
export async function openRun(page: Page, facts: Facts): Promise<string> {
  const id = await addRun(page.request, facts);
  await page.goto(`/runs/${id}`);
  await expect(page.getByRole("heading", { level: 1, name: facts.name })).toBeVisible();
  return id;
}

/** Drops a file onto the page as a user does from another window. */
export async function dropFile(page: Page, filename: string, text: string): Promise<void> {
  await expect(page.getByRole("heading", { level: 1, name: "Runs" })).toBeVisible();
  const transfer = await page.evaluateHandle(
    ({ name, content }) => {
      const data = new DataTransfer();
      data.items.add(new File([content], name));
      return data;
    },
    { name: filename, content: text },
  );
  await page.dispatchEvent("body", "dragenter", { dataTransfer: transfer });
  await expect(page.getByText("Drop result files or exported runs to import them")).toBeVisible();
  await page.dispatchEvent("body", "drop", { dataTransfer: transfer });
}

/** Imports a result by the page and opens its run. */
export async function importRun(page: Page, name: string, facts: Readonly<Record<string, string>>): Promise<void> {
  await page.goto("/runs");
  await dropFile(page, `${name}.csv`, vegetaCsv(RESULT));
  const dialog = page.getByRole("dialog", { name: "Import results" });
  await dialog.getByLabel("Name", { exact: true }).fill(name);
  for (const [label, value] of Object.entries(facts)) {
    // Fields with suggestions share their label with the list of them.
    const field = dialog.locator("input").and(dialog.getByLabel(label, { exact: true }));
    await field.fill(value);
    await field.press("Tab");
  }
  await dialog.getByRole("button", { name: /^Import/ }).click();
  const item = page
    .getByRole("list", { name: "Imports" })
    .getByRole("listitem")
    .filter({ hasText: `${name}.csv` });
  await item.getByRole("link", { name: "Open the run" }).click();
  await expect(page.getByRole("heading", { level: 1, name })).toBeVisible();
}
