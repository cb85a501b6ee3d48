import { useTranslation } from "react-i18next";
import type { Alert } from "@/api/alerts/types";
import { formatDuration } from "@/lib/time/time";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { shortInstant } from "../model/short-instant";
import classes from "./alert-card.module.css";

/** For how long it has stood so; ticks. */
export function Since({ alert, now }: { alert: Alert; now: number }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const { zone } = useView();
  const from = alert.state === "pending" ? alert.active_ms : (alert.fired_ms ?? alert.active_ms);
  const clock = (ms: number) => shortInstant(ms, now, zone, locale);
  const span = formatDuration(Math.max(1000, (alert.resolved_ms ?? now) - from), locale);
  const text =
    alert.resolved_ms === null
      ? t("alerts.since", { span, time: clock(from) })
      : t("alerts.between", { span, from: clock(from), to: clock(alert.resolved_ms) });
  return <span className={classes.since}>{text}</span>;
}
