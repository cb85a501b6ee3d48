import { expect, it } from "vitest";
import { lastRange } from "@/lib/range";
import { decodeView, encodeView } from "@/lib/view-state";

const DAY = lastRange("24h");

it("a page may have another usual range than the live page; the address then says what differs from it", () => {
  const { view } = decodeView(new URLSearchParams("search=pool"), 0, DAY);
  expect(view.range).toEqual(DAY);
  expect(encodeView(view, new URLSearchParams("search=pool"), DAY).toString()).toBe("search=pool");
  const shorter = encodeView({ ...view, range: lastRange("5m") }, new URLSearchParams(), DAY);
  expect(shorter.get("from")).toBe("now-5m");
  expect(decodeView(shorter, 0, DAY).view.range).toEqual(lastRange("5m"));
});
