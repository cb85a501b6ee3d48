/** Query options of findings; those of a run are in the run. */
import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "@/api/client";

/** What is said of the last five minutes. */
export const liveFindingsQuery = queryOptions({
  queryKey: ["findings", "live"],
  queryFn: ({ signal }) => unwrap(api.GET("/api/findings", { signal })),
});
