/** The audit log's filter as the address holds it. Pure. */
import { DAY } from "@/lib/time/time";

export const AUDIT_PERIODS = ["1d", "7d", "30d", "all"] as const;
export type AuditPeriod = (typeof AUDIT_PERIODS)[number];

/** Heads of actions, by which the log is filtered. */
export const AUDIT_AREAS = [
  "session",
  "setup",
  "user",
  "token",
  "alert",
  "silence",
  "delivery",
  "receiver",
  "routes",
  "rules",
  "run",
  "share",
  "import",
  "archive",
  "meeting",
  "annotation",
] as const;

export interface AuditFilter {
  readonly actor: string;
  /** Head of the actions that are shown; empty for all. */
  readonly area: string;
  readonly period: AuditPeriod;
}

export function decodeAudit(params: URLSearchParams): AuditFilter {
  return {
    actor: params.get("actor") ?? "",
    area: AUDIT_AREAS.find((one) => one === params.get("area")) ?? "",
    period: AUDIT_PERIODS.find((one) => one === params.get("period")) ?? "7d",
  };
}

/** Writes the filter over the parameters that were there; defaults are left out. */
export function encodeAudit(filter: AuditFilter, previous: URLSearchParams): URLSearchParams {
  const params = new URLSearchParams(previous);
  for (const name of ["actor", "area", "period"]) params.delete(name);
  if (filter.actor !== "") params.set("actor", filter.actor);
  if (filter.area !== "") params.set("area", filter.area);
  if (filter.period !== "7d") params.set("period", filter.period);
  return params;
}

/** Start of a period that ends now; null for all time. */
export function periodStart(period: AuditPeriod, nowMs: number): number | null {
  return period === "all" ? null : nowMs - Number.parseInt(period, 10) * DAY;
}
