import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useCallback, useMemo } from "react";
import { runsQuery } from "@/api/runs/queries";
import type { RunLine, RunsAsk } from "@/api/runs/types";
import { readTime } from "@/lib/time/input";
import { useParams } from "@/lib/use-params";
import { useView } from "@/lib/view/context";
import { decodeRunList, encodeRunList, type RunListState } from "./list-state";

const CALM_MS = 15_000;
/** Figures of a run under way change each second or two. */
const RUNNING_MS = 2_000;
const DAY_MS = 86_400_000;
const NONE: readonly RunLine[] = [];

/** A change of the list's state; it builds on the state of that moment, however many came before. */
export type ChangeRunList = (next: (held: RunListState) => RunListState) => void;

/** The list's state as the address holds it. */
export function useRunListState(): readonly [RunListState, ChangeRunList] {
  const [params, edit] = useParams();
  const state = useMemo(() => decodeRunList(params), [params]);
  const change = useCallback<ChangeRunList>(
    (next) => edit((held) => encodeRunList(next(decodeRunList(held)), held), true),
    [edit],
  );
  return [state, change];
}

/** Runs that match, page after page; read again often while one of them is under way. */
export function useRunList(state: RunListState) {
  const { sort, descending, filters } = state;
  const { zone } = useView();
  const { since, until, tag, actions, ...values } = filters.values;
  const day = (text: string | undefined) => {
    const time = text === undefined ? null : readTime(text, zone);
    return time?.kind === "at" ? time.ms : undefined;
  };
  const start = day(since);
  const last = day(until);
  const ask: RunsAsk = {
    ...{ ...values, q: filters.q, sort, descending },
    ...(actions !== undefined && { open_actions: true }),
    ...(tag !== undefined && { tag: [tag] }),
    ...(start !== undefined && { start_ms: start }),
    ...(last !== undefined && { end_ms: last + DAY_MS - 1 }),
  };
  const query = useInfiniteQuery({
    ...runsQuery(ask),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: held }) => {
      const running = held.data?.pages.some((page) => page.runs.some((run) => run.state === "running" && !run.silent));
      return running ? RUNNING_MS : CALM_MS;
    },
  });
  const runs = useMemo(() => query.data?.pages.flatMap((page) => page.runs) ?? NONE, [query.data]);
  return { ...query, runs, total: query.data?.pages.at(-1)?.total ?? 0 };
}
