import { expect, it } from "vitest";
import { alert, SEEN, SILENCE } from "@/testing/alert-fixtures";
import { planNotices } from "./notices";

const ids = (alerts: readonly { readonly id: string }[]) => alerts.map(({ id }) => id);

it("calls nobody for what fired before the page was opened, and once for what begins to fire", () => {
  const first = planNotices(null, [alert("a")]);
  expect(first.single).toEqual([]);
  const second = planNotices(first.told, [alert("a"), alert("b")]);
  expect(ids(second.single)).toEqual(["b"]);
  expect(planNotices(second.told, [alert("a"), alert("b")]).single).toEqual([]);
});

it("is silent about what is silenced, inhibited, muted or in somebody's hands", () => {
  const { told } = planNotices(null, []);
  const quiet = [
    alert("s", { silenced_by: [SILENCE] }),
    alert("i", { inhibited_by: ["x"] }),
    alert("m", { muted: true }),
    alert("k", { acknowledged: SEEN }),
  ];
  const plan = planNotices(told, quiet);
  expect(plan.single).toEqual([]);
  expect(ids(planNotices(plan.told, [alert("s")]).single)).toEqual(["s"]);
});

it("does not call again when an acknowledgement is taken back", () => {
  const { told } = planNotices(new Set(), [alert("a")]);
  const seen = planNotices(told, [alert("a", { acknowledged: SEEN })]);
  expect(planNotices(seen.told, [alert("a")]).single).toEqual([]);
});

it("puts many at once into one message, and forgets what is over", () => {
  const many = ["a", "b", "c", "d"].map((id) => alert(id));
  const plan = planNotices(new Set(), many);
  expect(plan.single).toEqual([]);
  expect(ids(plan.together)).toEqual(["a", "b", "c", "d"]);
  expect([...planNotices(plan.told, [alert("a")]).told]).toEqual(["a"]);
});
