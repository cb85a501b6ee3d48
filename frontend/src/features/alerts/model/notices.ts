/** Which alerts the browser tells of, each once. Pure. */
import type { Alert } from "@/api/alerts/types";
import { isQuiet } from "./text";

/** Three at once are read one by one; more are one message. */
const MOST_SINGLE = 3;

export interface NoticePlan {
  /** Ids that count as told from now on; those that are over are forgotten. */
  readonly told: ReadonlySet<string>;
  /** Alerts to tell of one by one. */
  readonly single: readonly Alert[];
  /** Alerts to tell of together; empty or more than three. */
  readonly together: readonly Alert[];
}

/** Firing, and neither kept quiet nor looked at already. */
export function isLoud(alert: Alert): boolean {
  return alert.state === "firing" && alert.acknowledged === null && !isQuiet(alert);
}

/**
 * What is new among the firing alerts. `told` null is the first look: what fires already is on the page, and nobody is
 * called for it. An alert whose silence ends while it fires is told of then.
 */
export function planNotices(told: ReadonlySet<string> | null, firing: readonly Alert[]): NoticePlan {
  const loud = firing.filter(isLoud);
  const fresh = told === null ? [] : loud.filter((alert) => !told.has(alert.id));
  const held = firing.filter((alert) => told?.has(alert.id) === true);
  const next = new Set([...held, ...loud].map((alert) => alert.id));
  if (fresh.length > MOST_SINGLE) return { told: next, single: [], together: fresh };
  return { told: next, single: fresh, together: [] };
}
