/** Panels out of the server's list of signals, in page order. Pure. */
import type { GroupInfo, SignalCatalogue, SignalInfo } from "@/api/types";
import type { Unit } from "@/lib/units";

export interface PanelInfo {
  /** Stable; part of addresses. */
  readonly id: string;
  readonly title: string;
  readonly unit: Unit;
  readonly help: string;
  readonly signals: readonly SignalInfo[];
  /** A label whose values stand side by side. */
  readonly split?: string | null;
  /** Its signals and their layers are parts of a whole. */
  readonly stacked?: boolean;
  /** A stack that is read as rows. */
  readonly table?: boolean;
}

/** The group of what users pinned or made: first on the page, open as the charts that every load test is read by. */
export const PINNED_GROUP = "pinned";

export interface PanelGroup {
  readonly group: GroupInfo;
  readonly panels: readonly PanelInfo[];
}

/**
 * Signals of one panel share a chart as long as they share a unit; each further unit gets a chart of its own beside
 * it, named after its signals. Groups without signals are left out.
 */
export function panelsOf(catalogue: SignalCatalogue): readonly PanelGroup[] {
  const named = new Set(catalogue.groups.map(({ id }) => id));
  const strays = [...new Set(catalogue.signals.map(({ group }) => group))].filter((id) => !named.has(id));
  const groups = [...catalogue.groups, ...strays.map((id) => ({ id, title: id, optional: false }))];
  return groups
    .map((group) => ({ group, panels: chartsOf(catalogue.signals.filter((one) => one.group === group.id)) }))
    .filter(({ panels }) => panels.length > 0);
}

function chartsOf(signals: readonly SignalInfo[]): readonly PanelInfo[] {
  const charts = new Map<string, SignalInfo[]>();
  for (const signal of signals) {
    const key = JSON.stringify([signal.panel.id, signal.unit]);
    charts.set(key, [...(charts.get(key) ?? []), signal]);
  }
  const used = new Set<string>();
  return [...charts.values()].flatMap((members): PanelInfo[] => {
    const [first] = members;
    if (first === undefined) return [];
    const further = used.has(first.panel.id);
    used.add(first.panel.id);
    return [
      {
        id: further ? `${first.panel.id}.${first.unit}` : first.panel.id,
        title: further ? `${first.panel.title}: ${members.map(({ title }) => title).join(", ")}` : first.panel.title,
        unit: first.unit,
        help: helpOf(members),
        signals: members,
        ...(first.panel.split != null && { split: first.panel.split }),
        ...(first.panel.stacked === true && { stacked: true }),
        ...(first.panel.table === true && { table: true }),
      },
    ];
  });
}

/** What a signal's text says once is not repeated for its neighbours. */
function helpOf(signals: readonly SignalInfo[]): string {
  if (signals.length === 1) return signals[0]?.help ?? "";
  return [...new Set(signals.map(({ title, help }) => `${title}: ${help}`))].join("\n");
}

/** PromQL as it can be pasted elsewhere: with a window in place of the server's variable. */
export function portableExpression(signal: SignalInfo, windowSeconds: number): string {
  return signal.expression.replaceAll("$window", `${Math.max(5, Math.ceil(windowSeconds))}s`);
}
