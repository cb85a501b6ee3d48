import { useTranslation } from "react-i18next";
import type { Profile } from "@/api/profiles/types";
import type { Run } from "@/api/runs/types";
import { formatElapsed } from "@/lib/run-text";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { Dim } from "@/ui/text/text";
import { isKnownKind } from "./model";

/** The name of a kind, and what it is of. */
export function useKindText() {
  const { t } = useTranslation();
  return {
    name: (kind: string) => (isKnownKind(kind) ? t(`profiles.kind_${kind}`) : kind),
    means: (kind: string) => (isKnownKind(kind) ? t(`profiles.means_${kind}`) : ""),
  };
}

/** The process of a profile; a file that somebody brought has its name in its place. */
export function processOf(profile: Profile): string {
  return [profile.job, profile.instance].filter(Boolean).join(" ") || profile.name;
}

/** When of the run it was taken and for how long, and whether figures of the run hold for that time. */
export function TakenAt({ profile, run }: { profile: Profile; run: Run }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const from = (profile.at_ms - run.started_ms) / 1000;
  const to = from + (profile.seconds ?? 0);
  const ended = run.ended_ms === null ? Number.POSITIVE_INFINITY : (run.ended_ms - run.started_ms) / 1000;
  if (to < 0 || from > ended) return <Dim>{t("profiles.outside")}</Dim>;
  const at = { elapsed: formatElapsed(Math.max(0, Math.round(from))) };
  const steady = run.steady_window?.source === "whole" ? null : run.steady_window;
  const beside = steady !== null && (from < steady.from_seconds - 1 || to > steady.to_seconds + 1);
  return (
    <>
      {profile.seconds === null
        ? t("profiles.whenMoment", at)
        : t("profiles.whenAt", { ...at, seconds: formatValue(profile.seconds, "seconds", locale) })}
      {beside && <Dim> · {t("profiles.notSteady")}</Dim>}
    </>
  );
}

export function CauseText({ profile }: { profile: Profile }) {
  const { t } = useTranslation();
  const known = ["run", "alert", "hand", "upload"] as const;
  const cause = known.find((one) => one === profile.cause) ?? "upload";
  return t(`profiles.cause_${cause}`, { by: profile.asked_by });
}
