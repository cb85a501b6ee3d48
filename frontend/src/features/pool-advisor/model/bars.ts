/** How the connections of a database are shared: as they are set, as they are needed, as they are advised. Pure. */
import type { PoolAdvice, PoolGroup } from "@/api/pools/types";

export type Kind = "others" | "pool" | "reserve" | "free";

export interface Part {
  readonly key: string;
  readonly kind: Kind;
  /** Of a pool its job and name; empty for all else. */
  readonly name: string;
  readonly count: number;
  /** Of the whole scale, 0 to 1. */
  readonly share: number;
  /** Place among the pools, for its colour. */
  readonly place: number;
}

export interface Bar {
  readonly id: "now" | "needed" | "advised";
  readonly parts: readonly Part[];
  /** Where max_connections stands, 0 to 1. */
  readonly limit: number;
  /** Connections beyond it; 0 when all fit. */
  readonly tooMany: number;
}

/** The bars that can be told, on one scale: without a server none, without a limit of every pool no bar of today. */
export function barsOf(advice: PoolAdvice): readonly Bar[] {
  const { server, groups } = advice;
  if (server === null || groups.length === 0) return [];
  const now = groups.map(nowOf);
  const needed = groups.map((group) => (group.wanted === null ? null : group.wanted * group.instances));
  const advised = groups.map((group) => {
    const each = group.settings.find(({ name }) => name === "max_open")?.advised ?? null;
    return each === null ? null : each * group.instances;
  });
  const tighter = needed.some((count, place) => count !== advised[place]);
  const bars: [Bar["id"], readonly (number | null)[]][] = [["now", now]];
  if (tighter) bars.push(["needed", needed]);
  bars.push(["advised", advised]);
  const told = bars.flatMap(([id, counts]) => (isKnown(counts) ? [{ id, counts }] : []));
  const { max_connections: limit, others } = server;
  if (others === null) return [];
  const used = told.map(({ counts }) => counts.reduce((sum, count) => sum + count, others + advice.reserve));
  const whole = Math.max(limit, ...used, 1);
  return told.map(({ id, counts }) => build(id, counts, advice, whole));
}

function isKnown(counts: readonly (number | null)[]): counts is readonly number[] {
  return counts.every((count) => count !== null);
}

/** What the pools of a group may open as they are set; null where one is unlimited or not known. */
function nowOf(group: PoolGroup): number | null {
  let total = 0;
  for (const { max_open } of group.members) {
    if (max_open === null || max_open === 0) return null;
    total += max_open;
  }
  return total;
}

function build(id: Bar["id"], counts: readonly number[], { server, groups, reserve }: PoolAdvice, whole: number): Bar {
  const limit = server?.max_connections ?? 0;
  const pools = counts.map((count, place) => {
    const { job, pool } = groups[place] ?? { job: "", pool: "" };
    return { key: `${job}/${pool}`, kind: "pool" as const, name: `${job} ${pool}`, count, place };
  });
  const held = [
    { key: "others", kind: "others" as const, name: "", count: server?.others ?? 0, place: 0 },
    ...pools,
    { key: "reserve", kind: "reserve" as const, name: "", count: reserve, place: 0 },
  ];
  const used = held.reduce((sum, { count }) => sum + count, 0);
  const free = { key: "free", kind: "free" as const, name: "", count: Math.max(limit - used, 0), place: 0 };
  return {
    id,
    parts: [...held, free]
      .filter(({ count }) => count > 0)
      .map((part) => ({ ...part, count: Math.round(part.count), share: part.count / whole })),
    limit: limit / whole,
    tooMany: Math.max(Math.round(used - limit), 0),
  };
}
