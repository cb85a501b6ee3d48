import { useQuery } from "@tanstack/react-query";
import { runsInStateQuery } from "@/api/compare/queries";
import type { RunLine } from "@/api/runs/types";

const LIST_MS = 3000;
/** So many are followed side by side. */
export const MOST_FOLLOWED = 3;
const NONE: readonly RunLine[] = [];

/** Runs under way, the one that began last in front; `known` once the server has told. */
export function useUnderWay() {
  const list = useQuery({ ...runsInStateQuery("running", MOST_FOLLOWED), refetchInterval: LIST_MS, retry: false });
  return { runs: list.data?.runs ?? NONE, total: list.data?.total ?? 0, known: list.data !== undefined };
}
