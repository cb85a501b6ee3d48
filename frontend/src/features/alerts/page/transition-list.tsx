import { useTranslation } from "react-i18next";
import type { AlertDetail } from "@/api/alerts/types";
import { formatMeasure } from "@/lib/run-text";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { Icon, type IconName } from "@/ui/icon";
import { Dim, Hint } from "@/ui/text/text";
import { movesState } from "../model/series";
import { shortInstant } from "../model/short-instant";
import { useTransitionText } from "../model/use-transition-text";
import classes from "./alert-page.module.css";

const ICONS: Readonly<Record<string, IconName>> = { pending: "clock", firing: "bell", resolved: "check" };

/** What happened to an alert, newest first. */
export function TransitionList({ detail, now }: { detail: AlertDetail; now: number }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const { zone } = useView();
  const words = useTransitionText();
  const { alert, transitions } = detail;
  if (transitions.length === 0) return <Hint>{t("alerts.page.noTransitions")}</Hint>;
  return (
    <ol className={classes.steps}>
      {transitions
        .toSorted((a, b) => b.at_ms - a.at_ms || b.id - a.id)
        .map((one) => (
          <li key={one.id}>
            <Icon name={movesState(one) ? (ICONS[one.to_state] ?? "info") : "note"} size={14} />
            <span className={classes.time}>{shortInstant(one.at_ms, now, zone, locale)}</span>
            <span>{words(one)}</span>
            {one.value !== null && <Dim>{formatMeasure(one.value, alert.unit, locale)}</Dim>}
          </li>
        ))}
    </ol>
  );
}
