// @vitest-environment node
import { describe, expect, it, vi } from "vitest";
import { cancelDraw, drawOnce, enqueueDraw, flushDraws } from "@/charts/draw-queue";

/** The jobs may take several turns of the event loop, as many as a busy machine makes of them. */
const soon = (check: () => void) => vi.waitFor(check, { timeout: 10_000 });

describe("the draw queue", () => {
  it("runs later, the newest job of each owner only, and not a cancelled one", async () => {
    const ran: string[] = [];
    const [a, b, c] = [{}, {}, {}];
    enqueueDraw(a, () => ran.push("a old"));
    enqueueDraw(b, () => ran.push("b"));
    enqueueDraw(a, () => ran.push("a new"));
    enqueueDraw(c, () => ran.push("c"));
    cancelDraw(c);
    expect(ran).toEqual([]);
    await soon(() => expect(ran).toEqual(["a new", "b"]));
  });

  it("runs the others when one fails, and lets the page hear of the failure", async () => {
    const ran: string[] = [];
    const heard: unknown[] = [];
    vi.stubGlobal("reportError", (error: unknown) => heard.push(error));
    const failure = new Error("broken chart");
    enqueueDraw({}, () => {
      throw failure;
    });
    enqueueDraw({}, () => ran.push("next"));
    await soon(() => expect(ran).toEqual(["next"]));
    expect(heard).toEqual([failure]);
    vi.unstubAllGlobals();
  });

  it("draws once for all that asks within a job, and by itself outside one", async () => {
    const drawn: string[] = [];
    const chart = {};
    enqueueDraw({}, () => {
      drawOnce(chart, () => drawn.push("data"));
      drawOnce(chart, () => drawn.push("scale"));
      drawn.push("end of job");
    });
    flushDraws();
    expect(drawn).toEqual(["end of job", "scale"]);
    drawOnce(chart, () => drawn.push("alone"));
    expect(drawn).toHaveLength(2);
    await soon(() => expect(drawn).toEqual(["end of job", "scale", "alone"]));
  });

  it("can be emptied at once, for printing and export", () => {
    const ran: string[] = [];
    enqueueDraw({}, () => ran.push("now"));
    flushDraws();
    expect(ran).toEqual(["now"]);
  });
});
