import { useTranslation } from "react-i18next";
import { seriesLook } from "@/charts/palette";
import { formatCount } from "@/lib/run-text";
import { OUTCOME_PLACES, OUTCOMES } from "@/lib/series/palette-places";
import classes from "../page/run-page.module.css";

interface Props {
  readonly outcomes: Readonly<Record<string, number>>;
  readonly statusCodes: Readonly<Record<string, number>>;
}

/** How the requests ended, as one bar with its legend, and the status codes. */
export function OutcomeBar({ outcomes, statusCodes }: Props) {
  const { t } = useTranslation();
  const total = Object.values(outcomes).reduce((sum, value) => sum + value, 0);
  const present = OUTCOMES.filter((outcome) => (outcomes[outcome] ?? 0) > 0);
  const codes = Object.entries(statusCodes).sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true }));
  if (total === 0) return null;
  return (
    <div className={classes.outcomes}>
      <svg className={classes.outcomeBar} viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
        {present.map((outcome, place) => {
          const before = present.slice(0, place).reduce((sum, one) => sum + (outcomes[one] ?? 0), 0);
          const width = ((outcomes[outcome] ?? 0) / total) * 1000;
          return (
            <rect
              key={outcome}
              x={(before / total) * 1000}
              width={Math.max(1, width - 1)}
              height="10"
              fill={seriesLook(OUTCOME_PLACES[outcome]).color}
            />
          );
        })}
      </svg>
      <ul className={classes.outcomeList} aria-label={t("runs.page.outcomes")}>
        {present.map((outcome) => {
          const look = seriesLook(OUTCOME_PLACES[outcome]);
          return (
            <li key={outcome}>
              <svg width="10" height="10" viewBox="-5 -5 10 10" aria-hidden="true">
                <path d={look.marker} fill={look.color} />
              </svg>
              {t(`runs.outcome_${outcome}`)} <strong>{formatCount(outcomes[outcome])}</strong>
            </li>
          );
        })}
      </ul>
      {codes.length > 0 && (
        <p className={classes.codes}>
          {t("runs.page.statusCodes")}{" "}
          {codes.map(([code, value]) => (
            <span key={code}>
              {code === "0" ? t("runs.page.noAnswer") : code} <strong>{formatCount(value)}</strong>
            </span>
          ))}
        </p>
      )}
    </div>
  );
}
