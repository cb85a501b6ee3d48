/** Fetchers and query options of alerts and rules, one per endpoint. Every key begins with "alerts". */
import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "@/api/client";
import { serverNow } from "@/api/server-clock";
import { HOUR } from "@/lib/time/time";
import type { AlertState } from "./types";

export interface AlertsAsk {
  readonly states: readonly AlertState[];
  readonly search: string;
  /** As `severity="page"`; all must hold. */
  readonly matchers: readonly string[];
  readonly sparklines: boolean;
}

/** More than a person reads; the answer says how many there are. */
export const MOST_ALERTS = 500;

const path = (alert: string) => ({ path: { alert_id: alert } });

export function alertsQuery(ask: AlertsAsk) {
  return queryOptions({
    queryKey: ["alerts", "list", ask],
    queryFn: ({ signal }) => {
      const query = {
        state: [...ask.states],
        ...(ask.search !== "" && { search: ask.search }),
        ...(ask.matchers.length > 0 && { matcher: [...ask.matchers] }),
        ...{ sparklines: ask.sparklines, limit: MOST_ALERTS },
      };
      return unwrap(api.GET("/api/alerts", { params: { query }, signal }));
    },
  });
}

/** Alerts by any part of their names and labels, as many as a person looks through. */
export function foundAlertsQuery(search: string) {
  return queryOptions({
    queryKey: ["alerts", "found", search],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/alerts", { params: { query: { search, sparklines: false, limit: 6 } }, signal })),
  });
}

export function alertQuery(alert: string) {
  return queryOptions({
    queryKey: ["alerts", "one", alert],
    queryFn: ({ signal }) => unwrap(api.GET("/api/alerts/{alert_id}", { params: path(alert), signal })),
  });
}

export function alertSeriesQuery(alert: string) {
  return queryOptions({
    queryKey: ["alerts", "one", alert, "series"],
    queryFn: ({ signal }) => unwrap(api.GET("/api/alerts/{alert_id}/series", { params: path(alert), signal })),
  });
}

export const MOST_HISTORY = 1000;

const HISTORY_SPANS = { "1h": HOUR, "6h": 6 * HOUR, "24h": 24 * HOUR } as const;
export type HistorySpan = keyof typeof HISTORY_SPANS | "7d";

/** The shortest usual span up to now that holds an alert: asked once for each visit, for a range must not jump. */
export function historySpanQuery() {
  return queryOptions({
    queryKey: ["alert-history-span"],
    queryFn: async ({ signal }): Promise<HistorySpan> => {
      const now = serverNow();
      for (const [span, ms] of Object.entries(HISTORY_SPANS)) {
        const query = { start_ms: now - ms, end_ms: now, limit: 1 };
        const found = await unwrap(api.GET("/api/alerts/history", { params: { query }, signal }));
        if (found.alerts.length > 0) return span as HistorySpan;
      }
      return "7d";
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  });
}

/** `span` is the range in words: one that follows the clock stays the same question while its ends move on. */
export function alertHistoryQuery(span: string, startMs: number, endMs: number, search: string) {
  return queryOptions({
    queryKey: ["alerts", "history", span, search],
    queryFn: ({ signal }) => {
      const query = { start_ms: startMs, end_ms: endMs, limit: MOST_HISTORY, ...(search !== "" && { search }) };
      return unwrap(api.GET("/api/alerts/history", { params: { query }, signal }));
    },
  });
}

export const rulesQuery = queryOptions({
  queryKey: ["alerts", "rules"],
  queryFn: ({ signal }) => unwrap(api.GET("/api/rules", { signal })),
});

export function reloadRules() {
  return unwrap(api.POST("/api/rules/reload"));
}

/** `incident`: with all alerts of its incident that fire. */
export function acknowledgeAlert(alert: string, comment: string, incident: boolean) {
  const body = { comment, incident };
  return unwrap(api.PUT("/api/alerts/{alert_id}/acknowledgement", { params: path(alert), body }));
}

export function unacknowledgeAlert(alert: string, incident: boolean) {
  const params = { ...path(alert), query: { incident } };
  return unwrap(api.DELETE("/api/alerts/{alert_id}/acknowledgement", { params }));
}

export function dismissAlert(alert: string) {
  return unwrap(api.POST("/api/alerts/{alert_id}/dismiss", { params: path(alert) }));
}
