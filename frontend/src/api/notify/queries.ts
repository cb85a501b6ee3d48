/** Fetchers and query options of notifications, one per endpoint. */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "@/api/client";
import type { DeliveryState, Matcher, SilenceInput } from "./types";

export const routingQuery = queryOptions({
  queryKey: ["notify", "routing"],
  queryFn: ({ signal }) => unwrap(api.GET("/api/routes", { signal })),
});

export function reloadRouting() {
  return unwrap(api.POST("/api/routes/reload"));
}

export function routeAnswerQuery(labels: Readonly<Record<string, string>>) {
  return queryOptions({
    queryKey: ["notify", "answer", labels],
    queryFn: ({ signal }) => unwrap(api.POST("/api/routes/resolve", { body: { labels: { ...labels } }, signal })),
  });
}

/** Alerts of now for their labels alone. */
export const alertLabelsQuery = queryOptions({
  queryKey: ["notify", "alert-labels"],
  queryFn: ({ signal }) =>
    unwrap(api.GET("/api/alerts", { params: { query: { sparklines: false, limit: 200 } }, signal })),
});

export const silencesQuery = queryOptions({
  queryKey: ["notify", "silences"],
  queryFn: ({ signal }) => unwrap(api.GET("/api/silences", { signal })),
});

export function silencePreviewQuery(matchers: readonly Matcher[]) {
  return queryOptions({
    queryKey: ["notify", "preview", matchers],
    queryFn: ({ signal }) => unwrap(api.POST("/api/silences/preview", { body: { matchers: [...matchers] }, signal })),
  });
}

/** `id` null makes a new one. */
export function saveSilence(id: string | null, body: SilenceInput) {
  if (id === null) return unwrap(api.POST("/api/silences", { body }));
  return unwrap(api.PUT("/api/silences/{silence_id}", { params: { path: { silence_id: id } }, body }));
}

export function expireSilence(id: string) {
  return unwrap(api.POST("/api/silences/{silence_id}/expire", { params: { path: { silence_id: id } } }));
}

export const receiversQuery = queryOptions({
  queryKey: ["notify", "receivers"],
  queryFn: ({ signal }) => unwrap(api.GET("/api/receivers", { signal })),
});

/** `integration` null tries every one of the receiver. */
export function tryReceiver(name: string, integration: string | null) {
  const query = integration === null ? {} : { integration };
  return unwrap(api.POST("/api/receivers/{name}/test", { params: { path: { name }, query } }));
}

export function retryIntegration(name: string, integration: string) {
  return unwrap(
    api.POST("/api/receivers/{name}/integrations/{integration}/retry", { params: { path: { name, integration } } }),
  );
}

export function stopIntegration(name: string, integration: string) {
  return unwrap(
    api.POST("/api/receivers/{name}/integrations/{integration}/stop", { params: { path: { name, integration } } }),
  );
}

export interface DeliveriesAsk {
  readonly states: readonly DeliveryState[];
  readonly receiver: string;
  readonly search: string;
}

export const DELIVERIES_PER_PAGE = 50;

export function deliveriesQuery(ask: DeliveriesAsk) {
  return infiniteQueryOptions({
    queryKey: ["notify", "deliveries", ask],
    queryFn: ({ pageParam, signal }) => {
      const { states, receiver, search } = ask;
      const query = {
        ...(states.length > 0 && { state: [...states] }),
        ...(pageParam !== "" && { before: pageParam }),
        ...{ receiver, search, limit: DELIVERIES_PER_PAGE },
      };
      return unwrap(api.GET("/api/deliveries", { params: { query }, signal }));
    },
    initialPageParam: "",
    getNextPageParam: (last) => last.next_before ?? undefined,
  });
}

export function deliveryQuery(id: string) {
  return queryOptions({
    queryKey: ["notify", "delivery", id],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/deliveries/{delivery_id}", { params: { path: { delivery_id: id } }, signal })),
  });
}

export function retryDelivery(id: string) {
  return unwrap(api.POST("/api/deliveries/{delivery_id}/retry", { params: { path: { delivery_id: id } } }));
}

export function stopDelivery(id: string) {
  return unwrap(api.POST("/api/deliveries/{delivery_id}/stop", { params: { path: { delivery_id: id } } }));
}
