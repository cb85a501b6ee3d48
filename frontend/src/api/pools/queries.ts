/** Query options of the advice on connection pools. */
import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "@/api/client";

/** Over a run, or the last quarter of an hour; `server` is an instance of the database, empty for the only one. */
export function poolAdviceQuery(run: string | null, server: string) {
  return queryOptions({
    queryKey: ["pool-advice", run, server],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/pool-advice", { params: { query: { run: run ?? "", server } }, signal })),
    retry: false,
  });
}
