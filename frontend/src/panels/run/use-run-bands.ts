import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { runsBetweenQuery } from "@/api/compare/queries";
import type { ChartBand } from "@/charts/chart-types";
import type { Range } from "@/lib/time/time";
import { runBands } from "./run-bands";

const REFRESH_MS = 5000;
/** More bands than this would be a carpet, not marks. */
const MOST_BANDS = 100;
const NONE: readonly ChartBand[] = [];

/** Runs within a range as bands; the same array for as long as nothing about them changes. */
export function useRunBands(range: Range): readonly ChartBand[] {
  // Widened to whole spans, so that a range that moves each second asks rarely.
  const spanMs = Math.max(60_000, range.endMs - range.startMs);
  const startMs = Math.max(0, Math.floor(range.startMs / spanMs) * spanMs);
  const endMs = Math.ceil(range.endMs / spanMs) * spanMs;
  const query = useQuery({
    ...runsBetweenQuery(startMs, endMs, MOST_BANDS),
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
    retry: false,
  });
  const [held, setHeld] = useState(NONE);
  const bands = query.data === undefined ? held : runBands(query.data.runs, held);
  if (bands !== held) setHeld(bands);
  return bands;
}
