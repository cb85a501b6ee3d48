/** What a score says, in words. Pure. */
import type { TFunction } from "i18next";
import type { ActionScore, ScoreState } from "@/api/runs/types";
import { detailOf, formatMeasure } from "@/lib/run-text";
import type { Locale } from "@/lib/time/time";
import type { Tone } from "@/ui/state-mark";

export const SCORE_TONES: Readonly<Record<ScoreState, Tone>> = { met: "ok", missed: "bad", "not-measured": "unknown" };

/** What was measured over which window, and what else there is to say of it. */
export function scoreWords(score: ActionScore, t: TFunction, locale: Locale): string[] {
  const words: string[] = [];
  if (typeof score.actual === "number") {
    words.push(`${formatMeasure(score.actual, score.unit, locale)} ${windowWords(score.window, t)}`);
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
