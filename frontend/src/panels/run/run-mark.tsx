import { useTranslation } from "react-i18next";
import type { RunState, Verdict } from "@/api/runs/types";
import { StateMark, type Tone } from "@/ui/state-mark";

interface Props {
  readonly state: RunState;
  readonly silent: boolean;
  readonly verdict: Verdict | null;
}

export const VERDICT_TONES: Readonly<Record<Verdict, Tone>> = { passed: "ok", failed: "bad", invalid: "warn" };

/** What became of a run: its verdict, else how far it is. Each as icon and word. */
export function RunMark({ state, silent, verdict }: Props) {
  const { t } = useTranslation();
  if (state === "running" && silent) return <StateMark tone="warn" label={t("runs.silent")} />;
  if (state === "running") return <StateMark tone="busy" label={t("runs.state_running")} size={12} />;
  if (verdict !== null) return <StateMark tone={VERDICT_TONES[verdict]} label={t(`runs.verdict_${verdict}`)} />;
  if (state === "aborted") return <StateMark tone="warn" label={t("runs.state_aborted")} />;
  return (
    <StateMark tone="unknown" icon="check" label={t(`runs.state_${state}`)} title={t("runs.noVerdictHint")} size={12} />
  );
}
