import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { signalsQuery } from "@/api/queries";
import type { ResourceReached, Review, ThresholdState } from "@/api/runs/types";
import { HeadroomBar } from "@/charts/bars/headroom-bar";
import { formatMeasure } from "@/lib/run-text";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { EarlierActions, ReviewActions } from "@/panels/actions/review-actions";
import { KeyFigures } from "@/panels/run/key-figures";
import { Icon, type IconName } from "@/ui/icon";
import { StateMark, type Tone } from "@/ui/state-mark";
import { type Impact, type Run, sortedThresholds } from "./headline";
import classes from "./meeting.module.css";

const ICONS: Readonly<Record<string, IconName>> = { passed: "check", failed: "stop", invalid: "warning" };
export const STATE_TONES: Readonly<Record<ThresholdState, Tone>> = { passed: "ok", failed: "bad", unknown: "unknown" };

/** The verdict across the room, and the thresholds behind it that judge none of the four figures. */
export function VerdictCard({ run }: { run: Run }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const shown = new Set(run.key_figures.map(({ threshold }) => threshold));
  const others = sortedThresholds(run.thresholds).filter(({ expression }) => !shown.has(expression));
  return (
    <section className={classes.card} aria-label={t("meeting.verdict")}>
      <p className={classes.verdict} data-verdict={run.verdict ?? "none"}>
        {run.verdict !== null && <Icon name={ICONS[run.verdict] ?? "unknown"} size={40} />}
        {run.verdict === null ? t("meeting.noVerdict") : t(`meeting.verdict_${run.verdict}`)}
      </p>
      {run.verdict === "invalid" && <p className={classes.dim}>{run.verdict_reasons.map(reasonText).join(", ")}</p>}
      {others.length > 0 && (
        <ul className={classes.list}>
          {others.map((threshold) => (
            <li key={threshold.expression}>
              <StateMark tone={STATE_TONES[threshold.state]} label={t(`meeting.state_${threshold.state}`)} size={16} />
              <code>{threshold.expression}</code>
              <span>{t("meeting.measured", { value: formatMeasure(threshold.actual, threshold.unit, locale) })}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );

  function reasonText(reason: string): string {
    const known = ["aborted", "no-requests", "generator-saturated", "not-measured"].find((code) => code === reason);
    return known === undefined ? reason : t(`meeting.reason_${known}` as "meeting.reason_aborted");
  }
}

/** The four figures, beside the baseline's. */
export function FiguresCard({ run, baseline }: { run: Run; baseline: Run | null }) {
  const { t } = useTranslation();
  const other = baseline === null || baseline.id === run.id ? [] : baseline.key_figures;
  return (
    <section className={classes.card} aria-label={t("meeting.figures")}>
      <KeyFigures figures={run.key_figures} baseline={other} soFar={run.state === "running"} />
      {run.baseline === null && <p className={classes.dim}>{t("meeting.noBaseline")}</p>}
      {run.is_baseline && <p className={classes.dim}>{t("meeting.isBaseline")}</p>}
    </section>
  );
}

const MOST_LIMITS = 4;

/** Limits in the order in which they were full, and how near the others came. */
export function LimitsCard({ run }: { run: Run }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const reached = run.resources.slice(0, MOST_LIMITS);
  return (
    <section className={classes.card}>
      <h3>{t("meeting.nearest")}</h3>
      {reached.length === 0 && <p className={classes.dim}>{t("meeting.noResources")}</p>}
      {reached.map((one) => (
        <div key={`${one.resource} ${JSON.stringify(one.labels)}`} className={classes.limit}>
          <div className={classes.limitHead}>
            <strong>
              {one.place != null && `${one.place}. `}
              {locale === "ja" ? one.title_ja : one.title}
            </strong>
            <StateMark {...limitState(one)} size={16} />
          </div>
          <HeadroomBar
            ratio={one.ratio_max}
            state={one.exhausted ? "exhausted" : one.ratio_max >= one.near ? "near" : "ok"}
            nearAt={one.near}
            label={locale === "ja" ? one.title_ja : one.title}
            locale={locale}
          />
          <div className={classes.limitHead}>
            <span>{one.name}</span>
            <span>
              {t("meeting.usedOf", {
                used: formatMeasure(one.used_max, one.unit, locale),
                limit: formatMeasure(one.limit, one.unit, locale),
              })}
            </span>
          </div>
        </div>
      ))}
    </section>
  );

  function limitState(one: ResourceReached): { tone: Tone; label: string } {
    const share = formatValue(one.ratio_max, "ratio", locale);
    return {
      tone: one.exhausted ? "bad" : one.ratio_max >= one.near ? "warn" : "ok",
      label: t("meeting.usedShare", { share }),
    };
  }
}

/** What was expected and what is watched, with what was measured. */
export function ImpactCard({ rows }: { rows: readonly Impact[] }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const catalogue = useQuery({ ...signalsQuery(locale), enabled: rows.some(({ state }) => state === null) }).data;
  if (rows.length === 0) return null;
  const hasBaseline = rows.some(({ baseline }) => baseline !== null);
  const title = (id: string) => catalogue?.signals.find((signal) => signal.id === id)?.title;
  return (
    <section className={classes.card}>
      <h3>{t("meeting.impact")}</h3>
      <table className={classes.impacts}>
        <thead>
          <tr>
            <th scope="col">{t("meeting.expected")}</th>
            <th scope="col">{t("meeting.measuredColumn")}</th>
            {hasBaseline && <th scope="col">{t("meeting.baseline")}</th>}
            <th scope="col">{t("meeting.state")}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.expression}>
              <th scope="row">
                {(row.state === null ? title(row.expression) : undefined) ?? <code>{row.expression}</code>}
              </th>
              <td>{formatMeasure(row.actual, row.unit, locale)}</td>
              {hasBaseline && <td>{formatMeasure(row.baseline, row.unit, locale)}</td>}
              <td>
                {row.state === null ? (
                  <span className={classes.dim}>{t("meeting.watched")}</span>
                ) : (
                  <StateMark tone={STATE_TONES[row.state]} label={t(`meeting.state_${row.state}`)} size={16} />
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

const TEXTS = ["approach", "outcome", "next_action", "feedback"] as const;

/** What the team wrote, for paper. */
export function ReviewWords({ review }: { review: Review }) {
  const { t } = useTranslation();
  const { attendees = [], actions = [] } = review;
  const written = TEXTS.filter((field) => review[field].trim() !== "");
  if (written.length === 0 && actions.length === 0 && review.scored.length === 0)
    return <p className={classes.dim}>{t("meeting.noReview")}</p>;
  return (
    <div className={`${classes.card} ${classes.words}`}>
      {written.map((field) => (
        <section key={field} className={classes.word}>
          <h3>{t(`meeting.text_${field}`)}</h3>
          <p>{review[field]}</p>
        </section>
      ))}
      {actions.length > 0 && (
        <section className={classes.word}>
          <h3>{t("runs.review.field_actions")}</h3>
          <ReviewActions review={review} />
        </section>
      )}
      <EarlierActions scored={review.scored} />
      {attendees.length > 0 && (
        <section className={classes.word}>
          <h3>{t("meeting.attendees")}</h3>
          <p>{attendees.join(", ")}</p>
        </section>
      )}
    </div>
  );
}
