import { expect, it } from "vitest";
import { remarks } from "@/app/locales/remarks.ja";
import { remarkText } from "./remarks";

const remark = (code: string, figures: Record<string, number> = {}) => ({ code, text: "as the server says", figures });

const DASHBOARD = remarks["jmeter-last-20000"] ?? "";

it("English is the server's own text, Japanese the code's with the remark's figures", () => {
  const dashboard = remark("jmeter-last-20000", { tool_p95: 0.147, ours_p95: 0.15 });
  expect(remarkText(dashboard, "", "en")).toBe("as the server says");
  expect(remarkText(dashboard, DASHBOARD, "ja")).toContain("p95 147 ms");
  expect(remarkText(dashboard, DASHBOARD, "ja")).toContain("p95 150 ms");
});

it("a code of a later server, and one that lacks a figure, fall back to the server's text", () => {
  expect(remarkText(remark("of-tomorrow"), remarks["of-tomorrow"] ?? "", "ja")).toBe("as the server says");
  expect(remarkText(remark("jmeter-last-20000"), DASHBOARD, "ja")).toBe("as the server says");
});
