import { useTranslation } from "react-i18next";
import type { Run, ThresholdState } from "@/api/runs/types";
import { formatMeasure } from "@/lib/run-text";
import { useCodeText } from "@/lib/use-code-text";
import { useLocale } from "@/lib/use-locale";
import { KeyFigures } from "@/panels/run/key-figures";
import { Icon, type IconName } from "@/ui/icon";
import { StateMark, type Tone } from "@/ui/state-mark";
import { sortedThresholds } from "./headline";
import classes from "./meeting.module.css";

const ICONS: Readonly<Record<string, IconName>> = { passed: "check", failed: "stop", invalid: "warning" };
const STATE_TONES: Readonly<Record<ThresholdState, Tone>> = { passed: "ok", failed: "bad", unknown: "unknown" };

/** The verdict across the room, then what was demanded and expected, but for what was met and judges one of the four figures. */
export function VerdictCard({ run }: { run: Run }) {
  const { t } = useTranslation();
  const codeText = useCodeText();
  const locale = useLocale();
  const shown = new Set(run.key_figures.map(({ threshold }) => threshold));
  const demanded = new Set(run.thresholds.map(({ expression }) => expression));
  const expected = run.expectations.filter(({ expression }) => !demanded.has(expression));
  const listed = sortedThresholds([...run.thresholds, ...expected]).filter(
    ({ expression, state }) => state !== "passed" || !shown.has(expression),
  );
  return (
    <section className={classes.card} aria-label={t("meeting.verdict")}>
      <p className={classes.verdict} data-verdict={run.verdict ?? "none"}>
        {run.verdict !== null && <Icon name={ICONS[run.verdict] ?? "unknown"} size={40} />}
        {run.verdict === null ? t("meeting.noVerdict") : t(`runs.verdict_${run.verdict}`)}
      </p>
      {run.verdict === "invalid" && (
        <p className={classes.dim}>
          {run.verdict_reasons.map((one) => codeText(`runs.page.reason_${one}`, one)).join(". ")}
        </p>
      )}
      {listed.length > 0 && (
        <ul className={classes.list}>
          {listed.map((threshold) => (
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
