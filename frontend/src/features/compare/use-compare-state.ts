import { useCallback, useMemo } from "react";
import { useSearchParams } from "react-router";
import { type CompareState, decodeCompare, encodeCompare } from "./compare-state";

/** The comparison's state, held by the address. Another set of runs is a step in the browser's history. */
export function useCompareState(): readonly [CompareState, (change: Partial<CompareState>) => void] {
  const [params, setParams] = useSearchParams();
  const state = useMemo(() => decodeCompare(params), [params]);
  const change = useCallback(
    (part: Partial<CompareState>) =>
      setParams((held) => encodeCompare({ ...decodeCompare(held), ...part }, held), {
        replace: part.runs === undefined,
        preventScrollReset: true,
      }),
    [setParams],
  );
  return [state, change];
}
