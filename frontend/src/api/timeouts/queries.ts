/** Fetchers and query options of timeouts. */
import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "@/api/client";
import type { Language } from "@/api/queries";

export function timeoutsQuery(lang: Language) {
  return queryOptions({
    queryKey: ["timeouts", lang],
    queryFn: ({ signal }) => unwrap(api.GET("/api/timeouts", { params: { query: { lang } }, signal })),
  });
}
