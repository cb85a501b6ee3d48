import { useCallback, useMemo } from "react";
import { decodePercentiles, encodePercentiles, type Percentile } from "@/lib/series/percentiles";
import { useParams } from "@/lib/use-params";

/** The percentiles that the address adds to the usual ones, and a way to choose others. */
export function usePercentiles(): readonly [readonly Percentile[], (names: readonly string[]) => void] {
  const [params, edit] = useParams();
  const key = params.getAll("percentile").join(" ");
  // biome-ignore lint/correctness/useExhaustiveDependencies: the same names must stay the same list
  const names = useMemo(() => decodePercentiles(params), [key]);
  const change = useCallback(
    (wanted: readonly string[]) => edit((held) => encodePercentiles(wanted, held), true),
    [edit],
  );
  return [names, change];
}
