/** Fetchers and query options of the pool advisor. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "@/api/client";
import { serverNow } from "@/api/server-clock";

export interface PoolAsk {
  /** A run, or else the last minutes. */
  readonly run: string | null;
  readonly minutes: number;
  /** Instance of the database; empty for the only one. */
  readonly server: string;
  /** By job, how many instances to reckon with. */
  readonly instances: Readonly<Record<string, number>>;
}

export function poolAdviceQuery({ run, minutes, server, instances }: PoolAsk) {
  const counts = Object.entries(instances).map(([job, count]) => `${job}:${count}`);
  return queryOptions({
    queryKey: ["pool-advice", run, minutes, server, counts],
    queryFn: ({ signal }) => {
      const end = serverNow();
      const window = run === null ? { start_ms: end - minutes * 60_000, end_ms: end } : { run };
      return unwrap(
        api.GET("/api/pool-advice", { params: { query: { ...window, server, instances: counts } }, signal }),
      );
    },
    placeholderData: keepPreviousData,
    retry: false,
  });
}
