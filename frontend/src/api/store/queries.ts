/** Query options of the store's figures. */
import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "@/api/client";

export const storeQuery = queryOptions({
  queryKey: ["store"],
  queryFn: ({ signal }) => unwrap(api.GET("/api/store", { signal })),
});
