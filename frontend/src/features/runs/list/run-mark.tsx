import { useTranslation } from "react-i18next";
import type { RunState, Verdict } from "@/api/runs/types";
import { Icon } from "@/ui/icon";
import { StateMark, type Tone } from "@/ui/state-mark";
import classes from "./run-mark.module.css";

interface Props {
  readonly state: RunState;
  readonly silent: boolean;
  readonly verdict: Verdict | null;
}

const TONES: Readonly<Record<Verdict, Tone>> = { passed: "ok", failed: "bad", invalid: "warn" };

/** What became of a run: its verdict, else how far it is. Each as icon and word. */
export function RunMark({ state, silent, verdict }: Props) {
  const { t } = useTranslation();
  if (state === "running") {
    return silent ? (
      <StateMark tone="warn" label={t("runs.silent")} />
    ) : (
      <span className={classes.running}>
        <Icon name="play" size={12} />
        {t("runs.state_running")}
      </span>
    );
  }
  if (verdict !== null) return <StateMark tone={TONES[verdict]} label={t(`runs.verdict_${verdict}`)} />;
  if (state === "aborted") return <StateMark tone="warn" label={t("runs.state_aborted")} />;
  return (
    <span className={classes.none} title={t("runs.noVerdictHint")}>
      <Icon name="check" size={12} />
      {t(`runs.state_${state}`)}
    </span>
  );
}
