import { expect, it } from "vitest";
import { alert, incident, SEEN, SILENCE } from "@/testing/alert-fixtures";
import { headSentence, isSeen, waitsForSomebody } from "./incident";

const RUN = { id: "r1", name: "checkout" };

it("says what ran out, else what the rule says, else the name", () => {
  const sentence = { en: "The pool ran out.", ja: "プールが尽きた。" };
  const finding = { id: "pool-exhausted", certainty: "certain", said_ms: null, sentence } as const;
  const translations = { ja: { summary: "プール: 98%" } };
  const ruled = { annotations: { summary: "Pool: 98 %" }, translations };
  expect(headSentence(alert("a", { finding, ...ruled }), "ja", "utc")).toBe("プールが尽きた。");
  expect(headSentence(alert("a", ruled), "ja", "utc")).toBe("プール: 98%");
  expect(headSentence(alert("a", ruled), "en", "utc")).toBe("Pool: 98 %");
  expect(headSentence(alert("a"), "en", "utc")).toBe("TooManyConnections");
});

it("is seen once all of it that fires is, and one that joins late counts", () => {
  const seen = alert("a", { acknowledged: SEEN });
  expect(isSeen(incident(seen))).toBe(true);
  expect(isSeen(incident(seen, [alert("b")]))).toBe(false);
  expect(isSeen(incident(seen, [alert("b", { state: "resolved" })]))).toBe(true);
  expect(isSeen(incident(alert("a", { state: "pending", acknowledged: SEEN })))).toBe(true);
});

it("calls for nobody during a load test, when it is in hand, silenced, or of no weight", () => {
  const head = alert("a", { severity: "critical" });
  expect(waitsForSomebody(incident(head))).toBe(true);
  expect(waitsForSomebody(incident(alert("a", { run: RUN, severity: "critical" })))).toBe(false);
  expect(waitsForSomebody(incident(alert("a", { acknowledged: SEEN })))).toBe(false);
  expect(waitsForSomebody(incident(alert("a", { silenced_by: [SILENCE] })))).toBe(false);
  expect(waitsForSomebody(incident(alert("a", { severity: "info" })))).toBe(false);
  expect(waitsForSomebody(incident(alert("a", { severity: "info" }), [head]))).toBe(true);
});
