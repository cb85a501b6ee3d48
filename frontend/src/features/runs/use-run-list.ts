import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useCallback, useMemo } from "react";
import { useSearchParams } from "react-router";
import { runsQuery } from "@/api/run-queries";
import type { RunLine } from "@/api/run-types";
import { serverNow } from "@/api/server-clock";
import { decodeRunList, encodeRunList, periodStart, type RunListState } from "@/lib/run-list-state";

const CALM_MS = 15_000;
/** Figures of a run under way change each second or two. */
const RUNNING_MS = 2_000;
const NONE: readonly RunLine[] = [];

/** The list's state as the address holds it. */
export function useRunListState(): readonly [RunListState, (next: RunListState) => void] {
  const [params, setParams] = useSearchParams();
  const state = useMemo(() => decodeRunList(params), [params]);
  const change = useCallback(
    (next: RunListState) => setParams((held) => encodeRunList(next, held), { replace: true, preventScrollReset: true }),
    [setParams],
  );
  return [state, change];
}

/** Runs that match, page after page; read again often while one of them is under way. */
export function useRunList(state: RunListState) {
  const { period, ...filters } = state;
  const query = useInfiniteQuery({
    ...runsQuery({ ...filters, startMs: periodStart(period, serverNow()) }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: held }) => {
      const running = held.data?.pages.some((page) => page.runs.some((run) => run.state === "running" && !run.silent));
      return running ? RUNNING_MS : CALM_MS;
    },
  });
  const runs = useMemo(() => query.data?.pages.flatMap((page) => page.runs) ?? NONE, [query.data]);
  return { ...query, runs, total: query.data?.pages.at(-1)?.total ?? 0 };
}
