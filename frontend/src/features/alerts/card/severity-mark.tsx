import { useTranslation } from "react-i18next";
import type { AlertState } from "@/api/alerts/types";
import { Icon, type IconName } from "@/ui/icon";
import { type Gravity, gravityOf } from "../model/text";
import classes from "./severity-mark.module.css";

const ICONS: Readonly<Record<Gravity, IconName>> = {
  critical: "stop",
  warning: "warning",
  info: "info",
  none: "bell",
};

interface Props {
  /** The label as the rule has it. */
  readonly severity: string;
  readonly state: AlertState;
  /** A load test is under way: nothing that calls for somebody. */
  readonly calm?: boolean;
  /** It is over because nobody sends its target any more, which is no recovery. */
  readonly stopped?: boolean;
}

/** How grave an alert is and where it stands: a shape of its own for each, and words; colour only repeats them. */
export function SeverityMark({ severity, state, calm = false, stopped = false }: Props) {
  const { t } = useTranslation();
  const gravity = gravityOf(severity);
  return (
    <span
      className={classes.mark}
      data-gravity={stopped ? "none" : gravity}
      data-state={stopped ? "stopped" : state}
      data-calm={calm}
    >
      <Icon name={stopped ? "unknown" : state === "resolved" ? "check" : ICONS[gravity]} size={14} />
      <span className={classes.words}>
        <span>{stopped ? t("alerts.reason_stopped-sending") : t(`alerts.state_${state}`)}</span>
        {severity !== "" && <span className={classes.severity}>{severity}</span>}
      </span>
    </span>
  );
}
