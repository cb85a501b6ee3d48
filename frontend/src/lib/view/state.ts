/** What the address of a page holds: range, pause, filters, folded and opened groups, time zone. Pure codec; unknown parameters stay as they are. */

import type { FleetMode } from "@/lib/series/fleet";
import {
  checkRange,
  DEFAULT_RANGE,
  followsNow,
  formatPoint,
  parsePoint,
  rangesEqual,
  type TimeRange,
} from "@/lib/time/range";

export type Zone = "local" | "utc";
export type FleetModes = Readonly<Record<string, FleetMode>>;

/** Label name to accepted values; a series passes when each named label has one of its values. */
export type Filters = Readonly<Record<string, readonly string[]>>;

export interface ViewState {
  readonly range: TimeRange;
  /** While paused, the instant (ms) that "now" stands for; null while live. */
  readonly pausedAt: number | null;
  readonly filters: Filters;
  /** Ids of the groups that the user folded. */
  readonly folded: readonly string[];
  /** Ids of the groups that the user opened: of those that stand folded by themselves. */
  readonly opened: readonly string[];
  readonly zone: Zone;
  /** A panel shown alone, or null. */
  readonly panel: string | null;
  /** That panel has a chart for each instance. */
  readonly perInstance: boolean;
  /** By group: whether instances are drawn as their total, each, or as their spread. */
  readonly fleets: FleetModes;
}

export interface DecodedView {
  readonly view: ViewState;
  /** Names of parameters that could not be read and were ignored. */
  readonly problems: readonly string[];
}

const OWN = ["from", "to", "paused", "filter", "folded", "open", "tz", "panel", "by", "show"] as const;

/** `usual` is the range of an address that names none. */
export function decodeView(params: URLSearchParams, now: number, usual: TimeRange = DEFAULT_RANGE): DecodedView {
  const problems: string[] = [];
  const range = decodeRange(params, now, usual, problems);
  const paused = params.get("paused");
  const pausedAt = paused !== null && /^\d{13}$/.test(paused) ? Number(paused) : null;
  if (paused !== null && pausedAt === null) problems.push("paused");
  const zone = params.get("tz");
  if (zone !== null && zone !== "utc" && zone !== "local") problems.push("tz");
  return {
    view: {
      range,
      pausedAt: followsNow(range) ? pausedAt : null,
      filters: decodeFilters(params, problems),
      folded: (params.get("folded") ?? "").split(",").filter(Boolean),
      opened: (params.get("open") ?? "").split(",").filter(Boolean),
      zone: zone === "utc" ? "utc" : "local",
      panel: params.get("panel"),
      perInstance: params.has("panel") && params.get("by") === "instance",
      fleets: decodeFleets(params, problems),
    },
    problems,
  };
}

function decodeRange(params: URLSearchParams, now: number, usual: TimeRange, problems: string[]): TimeRange {
  const from = params.get("from");
  const to = params.get("to");
  if (from === null && to === null) return usual;
  const first = parsePoint(from ?? "");
  const last = parsePoint(to ?? "now");
  if (first === null) problems.push("from");
  if (last === null) problems.push("to");
  if (first === null || last === null) return usual;
  const range = { from: first, to: last };
  if (checkRange(range, now) === null) return range;
  problems.push("from");
  return usual;
}

function decodeFilters(params: URLSearchParams, problems: string[]): Filters {
  const filters: Record<string, string[]> = {};
  for (const entry of params.getAll("filter")) {
    const colon = entry.indexOf(":");
    const label = entry.slice(0, colon);
    if (colon < 1 || !/^[a-zA-Z_][a-zA-Z0-9_]*$/.test(label)) {
      problems.push("filter");
      continue;
    }
    const values = filters[label] ?? [];
    const value = entry.slice(colon + 1);
    if (!values.includes(value)) values.push(value);
    filters[label] = values;
  }
  return filters;
}

function decodeFleets(params: URLSearchParams, problems: string[]): FleetModes {
  const fleets: Record<string, FleetMode> = {};
  for (const entry of (params.get("show") ?? "").split(",").filter(Boolean)) {
    const [group = "", mode = ""] = entry.split(":");
    if (group !== "" && (mode === "total" || mode === "each" || mode === "spread")) fleets[group] = mode;
    else problems.push("show");
  }
  return fleets;
}

/** Writes the view over the parameters that were there; defaults are left out so that plain addresses stay short. */
export function encodeView(
  view: ViewState,
  previous: URLSearchParams,
  usual: TimeRange = DEFAULT_RANGE,
): URLSearchParams {
  const params = new URLSearchParams(previous);
  for (const name of OWN) params.delete(name);
  if (!rangesEqual(view.range, usual)) {
    params.set("from", formatPoint(view.range.from));
    params.set("to", formatPoint(view.range.to));
  }
  if (view.pausedAt !== null) params.set("paused", String(view.pausedAt));
  for (const [label, values] of Object.entries(view.filters)) {
    for (const value of values) params.append("filter", `${label}:${value}`);
  }
  if (view.folded.length > 0) params.set("folded", view.folded.join(","));
  if (view.opened.length > 0) params.set("open", view.opened.join(","));
  if (view.zone === "utc") params.set("tz", "utc");
  if (view.panel !== null) params.set("panel", view.panel);
  if (view.panel !== null && view.perInstance) params.set("by", "instance");
  const fleets = Object.entries(view.fleets).map(([group, mode]) => `${group}:${mode}`);
  if (fleets.length > 0) params.set("show", fleets.join(","));
  return params;
}

/** Of an address, what goes along to another page: its view. Expressions and filters of one page stay there. */
export function viewSearch(search: string): string {
  const held = [...new URLSearchParams(search)].filter(([name]) => (OWN as readonly string[]).includes(name));
  return new URLSearchParams(held).toString();
}

/** True when the page shows new samples as they come. */
export function isLive(view: Pick<ViewState, "range" | "pausedAt">): boolean {
  return followsNow(view.range) && view.pausedAt === null;
}

export function withFilter(filters: Filters, label: string, values: readonly string[]): Filters {
  const { [label]: _dropped, ...rest } = filters;
  return values.length === 0 ? rest : { ...rest, [label]: values };
}
