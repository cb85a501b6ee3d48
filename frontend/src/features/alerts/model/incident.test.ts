import { expect, it } from "vitest";
import { alert, incident, SEEN, SILENCE } from "@/testing/alert-fixtures";
import { causeSentence, isSeen, waitsForSomebody } from "./incident";

const RUN = { id: "r1", name: "checkout" };

it("says what ran out, else what the rule says, else the name", () => {
  const sentence = { en: "The pool ran out.", ja: "プールが尽きた。" };
  const finding = { id: "pool-exhausted", certainty: "certain", said_ms: null, sentence } as const;
  const translations = { ja: { summary: "プール: 98%" } };
  const ruled = { annotations: { summary: "Pool: 98 %" }, translations };
  expect(causeSentence(alert("a", { finding, ...ruled }), "ja")).toBe("プールが尽きた。");
  expect(causeSentence(alert("a", ruled), "ja")).toBe("プール: 98%");
  expect(causeSentence(alert("a", ruled), "en")).toBe("Pool: 98 %");
  expect(causeSentence(alert("a"), "en")).toBe("TooManyConnections");
});

it("is seen once all of it that fires is, and one that joins late counts", () => {
  const seen = alert("a", { acknowledged: SEEN });
  expect(isSeen(incident(seen))).toBe(true);
  expect(isSeen(incident(seen, [alert("b")]))).toBe(false);
  expect(isSeen(incident(seen, [alert("b", { state: "resolved" })]))).toBe(true);
  expect(isSeen(incident(alert("a", { state: "pending", acknowledged: SEEN })))).toBe(true);
});

it("calls for nobody during a load test, when it is in hand, silenced, or of no weight", () => {
  const cause = alert("a", { severity: "critical" });
  expect(waitsForSomebody(incident(cause))).toBe(true);
  expect(waitsForSomebody(incident(alert("a", { run: RUN, severity: "critical" })))).toBe(false);
  expect(waitsForSomebody(incident(alert("a", { acknowledged: SEEN })))).toBe(false);
  expect(waitsForSomebody(incident(alert("a", { silenced_by: [SILENCE] })))).toBe(false);
  expect(waitsForSomebody(incident(alert("a", { severity: "info" })))).toBe(false);
  expect(waitsForSomebody(incident(alert("a", { severity: "info" }), [cause]))).toBe(true);
});
