/** Fetchers and query options of what listens on the agent's host. */
import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "@/api/client";
import type { ConnectRequest } from "./types";

/** Programs are asked what they are, so it is read when somebody looks, and never by itself. */
export const connectionsQuery = queryOptions({
  queryKey: ["connect"],
  queryFn: ({ signal }) => unwrap(api.GET("/api/connect", { signal })),
  staleTime: Number.POSITIVE_INFINITY,
  refetchOnWindowFocus: false,
  refetchOnReconnect: false,
  retry: false,
});

/** Not the answer of a moment ago. */
export function lookAgain() {
  return unwrap(api.GET("/api/connect", { params: { query: { fresh: true } } }));
}

export function checkListener(body: ConnectRequest) {
  return unwrap(api.POST("/api/connect/check", { body }));
}

export function watchListener(body: ConnectRequest) {
  return unwrap(api.POST("/api/connect/watch", { body }));
}
