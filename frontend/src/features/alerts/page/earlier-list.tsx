import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import type { Alert } from "@/api/alerts/types";
import { formatDuration } from "@/lib/time/time";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { Hint } from "@/ui/text/text";
import { shortInstant } from "../model/short-instant";
import { beginOf } from "../model/text";
import { useAlertPath } from "../model/use-alert-path";
import classes from "./alert-page.module.css";

/** Earlier episodes of the same alert. */
export function EarlierList({ alerts, now }: { alerts: readonly Alert[]; now: number }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const { zone } = useView();
  const path = useAlertPath();
  if (alerts.length === 0) return <Hint>{t("alerts.page.noEarlier")}</Hint>;
  return (
    <ul className={classes.earlier}>
      {alerts.map((one) => (
        <li key={one.id}>
          <Link to={path(one.id)}>{shortInstant(beginOf(one), now, zone, locale)}</Link>
          <span>
            {t("alerts.lasted", { span: formatDuration((one.resolved_ms ?? now) - beginOf(one), locale) })}
            {one.resolved_reason !== null && ` · ${t(`alerts.reason_${one.resolved_reason}`)}`}
          </span>
          {one.run !== null && <Link to={`/runs/${one.run.id}`}>{one.run.name || one.run.id}</Link>}
        </li>
      ))}
    </ul>
  );
}
