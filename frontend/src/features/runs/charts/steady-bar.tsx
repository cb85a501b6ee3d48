import { Button, NumberInput } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { Figures, Run } from "@/api/runs/types";
import { formatElapsed, formatSuccess } from "@/lib/run-text";
import { formatValue } from "@/lib/units";
import { useCodeText } from "@/lib/use-code-text";
import { useLocale } from "@/lib/use-locale";
import { FaultText } from "@/ui/fault/problem";
import { Fact, Facts } from "@/ui/text/facts";
import { Dim } from "@/ui/text/text";
import classes from "./charts.module.css";
import type { SteadyEdit } from "./use-steady-edit";

interface Props {
  readonly run: Run;
  readonly edit: SteadyEdit;
  readonly lengthSeconds: number;
}

/** Which part of the run the figures cover, why, and the way to change it. */
export function SteadyBar({ run, edit, lengthSeconds }: Props) {
  const { t } = useTranslation();
  const codeText = useCodeText();
  const window = run.steady_window;
  if (window === null) return null;
  if (edit.draft !== null) return <Adjusting run={run} edit={edit} lengthSeconds={lengthSeconds} />;
  const values = { from: formatElapsed(window.from_seconds), to: formatElapsed(window.to_seconds) };
  return (
    <div className={classes.steady}>
      <span className={classes.swatch} aria-hidden="true" />
      <span>
        <strong>{t("runs.page.steadyWindow", values)}</strong>{" "}
        <Dim>
          {t("runs.page.sourceWhy", {
            source: t(`runs.page.source_${window.source}`),
            why: codeText(`runs.page.window_${window.reason}`, window.reason),
          })}
        </Dim>
      </span>
      <Button size="compact-xs" variant="default" onClick={edit.begin}>
        {t("runs.page.adjust")}
      </Button>
      {window.source === "adjusted" && (
        <Button size="compact-xs" variant="subtle" loading={edit.busy} onClick={edit.reset}>
          {t("runs.page.backToFound")}
        </Button>
      )}
    </div>
  );
}

function Adjusting({ run, edit, lengthSeconds }: Props) {
  const { t } = useTranslation();
  const draft = edit.draft ?? { from: 0, to: 1 };
  const field = { size: "xs", min: 0, max: Math.ceil(lengthSeconds), clampBehavior: "blur", w: 92 } as const;
  return (
    <fieldset className={classes.adjusting}>
      <legend className="lw-visually-hidden">{t("runs.page.adjustTitle")}</legend>
      <p className={classes.adjustHint} role="status">
        {t("runs.page.adjustHint")}
      </p>
      <div className={classes.adjustRow}>
        <NumberInput
          {...field}
          label={t("runs.page.fromSeconds")}
          value={draft.from}
          onChange={(value) => typeof value === "number" && value < draft.to && edit.set({ ...draft, from: value })}
        />
        <NumberInput
          {...field}
          label={t("runs.page.toSeconds")}
          value={draft.to}
          onChange={(value) => typeof value === "number" && value > draft.from && edit.set({ ...draft, to: value })}
        />
        <Preview now={run.steady} draft={edit.preview} problem={edit.problem} />
        <div className={classes.adjustButtons}>
          {run.steady_window?.source === "adjusted" && (
            <Button size="xs" variant="subtle" onClick={edit.reset}>
              {t("runs.page.backToFound")}
            </Button>
          )}
          <Button size="xs" variant="default" onClick={edit.cancel}>
            {t("action.cancel")}
          </Button>
          <Button size="xs" loading={edit.busy} onClick={edit.save}>
            {t("runs.page.useWindow")}
          </Button>
        </div>
      </div>
    </fieldset>
  );
}

function Preview({ now, draft, problem }: { now: Figures | null; draft: Figures | null; problem: Error | null }) {
  const { t } = useTranslation();
  const locale = useLocale();
  if (problem !== null) return <FaultText error={problem} />;
  const cells = (figures: Figures | null) => [
    formatValue(figures?.rate, "per_second", locale),
    formatSuccess(figures?.success_ratio),
    formatValue(figures?.latency_seconds.p95, "seconds", locale),
    formatValue(figures?.latency_seconds.p99, "seconds", locale),
  ];
  const names = [t("runs.column_rate"), t("runs.column_success"), "p95", "p99"];
  const [before, after] = [cells(now), cells(draft)];
  return (
    <Facts aria-label={t("runs.page.preview")} aria-live="polite">
      {names.map((name, place) => (
        <Fact key={name} name={name}>
          <strong>{after[place]}</strong>
          <Dim> {t("runs.page.was", { value: before[place] })}</Dim>
        </Fact>
      ))}
    </Facts>
  );
}
