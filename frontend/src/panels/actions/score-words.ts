/** What a score says, in words. Pure. */
import type { TFunction } from "i18next";
import type { ActionScore, ScoreState } from "@/api/runs/types";
import { detailOf, formatMeasure } from "@/lib/run-text";
import type { Locale } from "@/lib/time/time";
import { formatValue } from "@/lib/units";
import type { Tone } from "@/ui/state-mark";

export const SCORE_TONES: Readonly<Record<ScoreState, Tone>> = { held: "ok", missed: "bad", "cannot-tell": "unknown" };

/** Why nobody can tell, what was measured before and now over which window, and under which load. */
export function scoreWords(score: ActionScore, t: TFunction, locale: Locale): string[] {
  const words: string[] = [];
  if (score.reason !== "") words.push(t(`actions.reason_${score.reason}`));
  if (typeof score.actual === "number") {
    const [before, now] = [score.before, score.actual].map((value) => formatMeasure(value, score.unit, locale));
    words.push(`${t("actions.change", { before, now })} ${windowWords(score.window, t)}`);
  }
  if (score.load) {
    const { kind, before, now } = score.load;
    const unit = kind === "users" ? "count" : "per_second";
    const [was, is] = [before, now].map((value) => formatValue(value, unit, locale));
    words.push(t(`actions.load_${kind}`, { before: was, now: is }));
  }
  if (score.detail !== "") words.push(detailOf(score, locale));
  return words;
}

function windowWords(window: string, t: TFunction): string {
  if (window === "steady" || window === "whole") return t(`actions.window_${window}`);
  return t("actions.window_part", { window });
}

/** Open, and due before today: by the calendar of whoever reads. */
export function isOverdue(action: { readonly state: string; readonly due?: string | null }, now: Date): boolean {
  const two = (value: number) => String(value).padStart(2, "0");
  const today = `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
  return action.state === "open" && typeof action.due === "string" && action.due < today;
}
