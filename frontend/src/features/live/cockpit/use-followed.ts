import { type Query, useQueries, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { lastRunQuery, runQuery } from "@/api/runs/queries";
import type { Run } from "@/api/runs/types";
import { MOST_FOLLOWED, useUnderWay } from "@/panels/run/use-under-way";

const UNDER_WAY_MS = 2000;
const ENDED_MS = 15_000;
const LAST_MS = 10_000;

export interface Followed {
  /** Runs under way, the last one begun in front; else the run that was begun last. */
  readonly runs: readonly Run[];
  readonly underWay: boolean;
  /** How many are under way beside these. */
  readonly more: number;
  /** The server knows of no run. */
  readonly none: boolean;
}

/** The runs that the page follows: one document each. */
export function useFollowed(): Followed {
  const { runs, total, known } = useUnderWay();
  const underWay = runs.length > 0;
  // Asked for all the time: the run that has just ended must be known when nothing is under way any more.
  const last = useQuery({
    ...lastRunQuery,
    enabled: known,
    refetchInterval: LAST_MS,
    retry: false,
  });
  const ids = underWay ? runs.slice(0, MOST_FOLLOWED).map(({ id }) => id) : (last.data?.runs ?? []).map(({ id }) => id);
  const found = useQueries({
    queries: ids.map((id) => ({
      ...runQuery(id),
      // Its document says that it has ended before the list does, or after.
      refetchInterval: ({ state }: Query<Run, Error, Run, string[]>) =>
        state.data?.state === "running" || state.data === undefined ? UNDER_WAY_MS : ENDED_MS,
      retry: false,
    })),
    combine: (results) => results.flatMap(({ data }) => data ?? []),
  });
  // Between the end of one run and the answer about the last one, what stood there stays.
  const [held, setHeld] = useState<readonly Run[]>([]);
  const complete = found.length === ids.length && (ids.length > 0 || last.data !== undefined);
  const same = held.length === found.length && held.every((run, place) => run === found[place]);
  if (complete && !same) setHeld(found);
  const shown = complete ? found : held;
  return {
    runs: shown,
    underWay,
    more: Math.max(0, total - MOST_FOLLOWED),
    none: known && last.data !== undefined && ids.length === 0,
  };
}
