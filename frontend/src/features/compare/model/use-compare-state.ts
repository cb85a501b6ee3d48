import { useCallback, useMemo } from "react";
import { useParams } from "@/lib/use-params";
import { type CompareState, decodeCompare, encodeCompare } from "./state";

/** The comparison's state, held by the address. Another set of runs is a step in the browser's history. */
export function useCompareState(): readonly [CompareState, (change: Partial<CompareState>) => void] {
  const [params, edit] = useParams();
  const state = useMemo(() => decodeCompare(params), [params]);
  const change = useCallback(
    (part: Partial<CompareState>) =>
      edit((held) => encodeCompare({ ...decodeCompare(held), ...part }, held), part.runs === undefined),
    [edit],
  );
  return [state, change];
}
