import { useState } from "react";
import type { Run } from "@/api/runs/types";
import type { ChartLimit } from "@/charts/chart-types";
import { thresholdLines } from "./figures";

type Lines = ReadonlyMap<string, readonly ChartLimit[]>;

/** What runs under way hold response times against, by panel; the same map for as long as the thresholds are the same. */
export function useThresholdLines(runs: readonly Run[]): Lines {
  const lines = thresholdLines(runs);
  const key = JSON.stringify(lines);
  const [held, setHeld] = useState<{ readonly key: string; readonly lines: Lines }>({ key: "[]", lines: new Map() });
  if (held.key === key) return held.lines;
  const next = { key, lines: new Map([["latency", lines]]) };
  setHeld(next);
  return next.lines;
}
