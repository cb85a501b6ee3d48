/** What charts of a run span. Pure. */
import type { Range } from "@/lib/time/time";

/** Some of what comes before and after belongs to the picture: the rise, and what the database still had to do. */
const BEFORE = 0.02;
const AFTER = 0.05;

/** A run's time with a little around it; nothing is drawn after what is still under way. */
export function aroundRun(startMs: number, endMs: number, running: boolean): Range {
  const span = endMs - startMs;
  return { startMs: Math.floor(startMs - span * BEFORE), endMs: Math.ceil(running ? endMs : endMs + span * AFTER) };
}
