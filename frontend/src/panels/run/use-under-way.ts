import { useQuery } from "@tanstack/react-query";
import { runsInStateQuery } from "@/api/compare/queries";
import type { RunLine } from "@/api/runs/types";

const LIST_MS = 3000;
/** So many are followed side by side. */
export const MOST_FOLLOWED = 3;
const NONE: readonly RunLine[] = [];

/** Runs under way, the one that began last in front, silent ones behind; `known` once the server has told. */
export function useUnderWay() {
  const list = useQuery({ ...runsInStateQuery("running", MOST_FOLLOWED), refetchInterval: LIST_MS, retry: false });
  const runs = list.data?.runs.toSorted((a, b) => Number(a.silent) - Number(b.silent)) ?? NONE;
  return { runs, total: list.data?.total ?? 0, known: list.data !== undefined };
}
