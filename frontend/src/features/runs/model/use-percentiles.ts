import { useCallback, useMemo } from "react";
import { useSearchParams } from "react-router";
import { decodePercentiles, encodePercentiles, type Percentile } from "@/lib/series/percentiles";

/** The percentiles that the address adds to the usual ones, and a way to choose others. */
export function usePercentiles(): readonly [readonly Percentile[], (names: readonly string[]) => void] {
  const [params, setParams] = useSearchParams();
  const key = params.getAll("percentile").join(" ");
  // biome-ignore lint/correctness/useExhaustiveDependencies: the same names must stay the same list
  const names = useMemo(() => decodePercentiles(params), [key]);
  const change = useCallback(
    (wanted: readonly string[]) =>
      setParams((held) => encodePercentiles(wanted, held), { replace: true, preventScrollReset: true }),
    [setParams],
  );
  return [names, change];
}
