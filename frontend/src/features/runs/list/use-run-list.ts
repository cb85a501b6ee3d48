import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef } from "react";
import { useSearchParams } from "react-router";
import { runsQuery } from "@/api/runs/queries";
import type { RunLine } from "@/api/runs/types";
import { useLocale } from "@/lib/use-locale";
import { decodeRunList, encodeRunList, type RunListState } from "./list-state";

const CALM_MS = 15_000;
/** Figures of a run under way change each second or two. */
const RUNNING_MS = 2_000;
const NONE: readonly RunLine[] = [];

/** A change of the list's state; it builds on the state of that moment, however many came before. */
export type ChangeRunList = (next: (held: RunListState) => RunListState) => void;

/** The list's state as the address holds it. */
export function useRunListState(): readonly [RunListState, ChangeRunList] {
  const [params, setParams] = useSearchParams();
  const state = useMemo(() => decodeRunList(params), [params]);
  // The router renders a new address when it finds time; what comes until then must build on that address already.
  const latest = useRef(params);
  useEffect(() => {
    latest.current = params;
  }, [params]);
  const change = useCallback<ChangeRunList>(
    (next) => {
      latest.current = encodeRunList(next(decodeRunList(latest.current)), latest.current);
      setParams(latest.current, { replace: true, preventScrollReset: true });
    },
    [setParams],
  );
  return [state, change];
}

/** Runs that match, page after page; read again often while one of them is under way. */
export function useRunList(state: RunListState) {
  const { where, sort, descending } = state;
  const query = useInfiniteQuery({
    ...runsQuery({ where, sort, descending }, useLocale()),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: held }) => {
      const running = held.data?.pages.some((page) => page.runs.some((run) => run.state === "running" && !run.silent));
      return running ? RUNNING_MS : CALM_MS;
    },
  });
  const runs = useMemo(() => query.data?.pages.flatMap((page) => page.runs) ?? NONE, [query.data]);
  return { ...query, runs, total: query.data?.pages.at(-1)?.total ?? 0 };
}
