/** What the page makes of a diagnosis: its chart, the chain of causes, what to switch on. Pure. */
import type { Diagnosis, Evidence, Finding, Link, Missing } from "@/api/findings/types";

export const LINKS: readonly Link[] = ["limit", "demand", "effect"];

/** Whether it leads anywhere: not what people refused, nor what was over before the latest run. */
export function accuses({ severity, muted, mark, before_run }: Finding): boolean {
  return severity !== "info" && !muted && !before_run && mark?.opinion !== "rejected";
}

/** What accused somebody before the latest run began; null where nothing did. */
export function beforeRun(found: readonly Finding[]): { readonly first: Finding; readonly more: number } | null {
  const [first, ...others] = found.filter((one) => one.before_run && !one.muted);
  return first === undefined ? null : { first, more: others.length };
}

/** The lines of each collector once, of what a system of the usual kind has; empty where no line brings anything. */
export function usualLines(missing: readonly Missing[]): string {
  const blocks = new Map<string, string[]>();
  for (const { config } of missing.filter(({ usual }) => usual)) {
    let block: string[] | null = null;
    for (const line of config.split("\n")) {
      if (!line.startsWith(" ")) {
        block = blocks.has(line) || line === "" ? null : [];
        if (block !== null) blocks.set(line, block);
      }
      block?.push(line);
    }
  }
  return [...blocks.values()].flat().join("\n");
}

export interface SwitchedOff {
  /** Lines of loadwatch.yml; empty where none bring it. */
  readonly config: string;
  readonly missing: readonly Missing[];
}

/** What could not be checked, by the lines that would bring it: one block to paste for all that it serves. */
export function switchedOff(missing: readonly Missing[]): readonly SwitchedOff[] {
  const groups = new Map<string, Missing[]>();
  for (const one of missing) groups.set(one.config, [...(groups.get(one.config) ?? []), one]);
  const listed = [...groups].map(([config, items]) => ({ config, missing: items }));
  return [...listed.filter(({ config }) => config !== ""), ...listed.filter(({ config }) => config === "")];
}

/**
 * Places of the direct causes of each finding. A cause of a cause is left out, since the chain says it already; so is
 * one that stands later in the list, of two that are each said to follow from the other.
 */
export function directCauses(findings: readonly Finding[]): readonly (readonly number[])[] {
  const places = new Map(findings.map(({ key }, place) => [key, place]));
  const causes = findings.map(({ because_of }, place) =>
    [...new Set(because_of.map((key) => places.get(key) ?? place))]
      .filter((cause) => cause < place)
      .sort((a, b) => a - b),
  );
  const before = causes.map(() => new Set<number>());
  for (const [place, own] of causes.entries()) {
    for (const cause of own) for (const one of [cause, ...(before[cause] ?? [])]) before[place]?.add(one);
  }
  return causes.map((own) => own.filter((cause) => !own.some((other) => before[other]?.has(cause))));
}

export interface Edge {
  /** Places in the list, the cause's first. */
  readonly from: number;
  readonly to: number;
  /** 0 leads straight to the next line; others pass what lies between, further out the higher. */
  readonly lane: number;
}

export const MOST_LANES = 4;

/** The arrows of the chain, each in a lane of its own while there are lanes. */
export function edgesOf(causes: readonly (readonly number[])[]): readonly Edge[] {
  const pairs = causes.flatMap((own, to) => own.map((from) => ({ from, to })));
  const lanes: { from: number; to: number }[][] = [];
  return pairs
    .toSorted((a, b) => a.to - a.from - (b.to - b.from) || a.from - b.from)
    .map((pair) => {
      if (pair.to - pair.from === 1) return { ...pair, lane: 0 };
      const free = lanes.findIndex((held) => held.every(({ from, to }) => to <= pair.from || from >= pair.to));
      const lane = Math.min(free === -1 ? lanes.length : free, MOST_LANES - 1);
      lanes[lane] = [...(lanes[lane] ?? []), pair];
      return { ...pair, lane: lane + 1 };
    });
}

/** What a finding stands on: for each link of the chain whether there is evidence of it. */
export function chainOf(finding: Finding): readonly { readonly link: Link; readonly seen: boolean }[] {
  return LINKS.map((link) => ({ link, seen: finding.evidence.some((one) => one.link === link) }));
}

/** Of a time, its place among the values of a small chart; null where it lies outside. */
export function placeIn(
  chart: { start_ms: number; step_ms: number; values: readonly unknown[] },
  atMs: number,
): number | null {
  // A value stands for the time up to the next one; the instant of its end belongs to it.
  const place = Math.ceil((atMs - chart.start_ms) / chart.step_ms) - 1;
  return place >= 0 && place < chart.values.length ? place : null;
}

export interface ShownEvidence {
  readonly finding: Finding;
  readonly evidence: Evidence;
  readonly chart: NonNullable<Evidence["chart"]>;
}

/**
 * The chart that stands for what is said first: of its limit where that is drawn, else of its first evidence that is. A
 * line of nothing but zeros proves much and shows little, so it comes last.
 */
export function firstEvidence(diagnosis: Diagnosis | null, found: readonly Finding[]): ShownEvidence | null {
  if (diagnosis === null) return null;
  const first = found.find(({ key }) => key === diagnosis.headline?.key);
  if (first === undefined) return null;
  const drawn = first.evidence.flatMap((evidence) =>
    evidence.chart?.values.some((value) => value !== null) === true ? [{ evidence, chart: evidence.chart }] : [],
  );
  const alive = drawn.filter(({ chart }) => chart.values.some((value) => value !== null && value !== 0));
  const some = alive.length > 0 ? alive : drawn;
  const shown = some.find(({ evidence }) => evidence.link === "limit") ?? some[0];
  return shown === undefined ? null : { finding: first, ...shown };
}
