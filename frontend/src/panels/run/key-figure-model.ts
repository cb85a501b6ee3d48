/** What can be said of two runs' figures of one name. Pure. */
import type { KeyFigure } from "@/api/runs/types";
import { relativeChange } from "@/lib/run-text";
import { OUTCOMES, type Outcome } from "@/lib/series/palette-places";

export function isOutcome(name: string): name is Outcome {
  return (OUTCOMES as readonly string[]).includes(name);
}

/** Before the name of a figure of the user's own. */
const OWN = "figure:";

/** The name of a figure of the user's own; null of others. */
export function ownName(id: string): string | null {
  return id.startsWith(OWN) ? id.slice(OWN.length) : null;
}

/**
 * A figure against the baseline's. Null where they do not cover the same part of their runs, where one is not known,
 * and for counts, which say how long a run was.
 */
export function changeOf(figure: KeyFigure, base: KeyFigure | undefined): { readonly relative: number | null } | null {
  if (base === undefined || figure.unit === "count" || figure.window !== base.window) return null;
  if (figure.value === null || base.value === null) return null;
  return { relative: relativeChange(figure.value, base.value) };
}
