import { useTranslation } from "react-i18next";
import type { GeneratorCheck } from "@/api/runs/types";
import { formatCount } from "@/lib/run-text";
import { formatValue } from "@/lib/units";
import { useCodeText } from "@/lib/use-code-text";
import { useLocale } from "@/lib/use-locale";
import { Section } from "@/ui/page/section";
import { StateMark, type Tone } from "@/ui/state-mark";
import { Fact, Facts } from "@/ui/text/facts";
import { Hint } from "@/ui/text/text";
import classes from "../page/run-page.module.css";

const TONES: Readonly<Record<string, Tone>> = {
  ok: "ok",
  suspect: "warn",
  saturated: "bad",
  "held-back": "warn",
  unknown: "unknown",
};
const STATES = ["ok", "suspect", "saturated", "held-back", "unknown"] as const;

/** Could the generator send what it was asked to? If not, the figures are its own and not the system's. */
export function GeneratorPanel({ check }: { check: GeneratorCheck }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const codeText = useCodeText();
  const state = STATES.find((one) => one === check.state) ?? "unknown";
  const figures = [
    [t("runs.page.target"), check.target_rate === null ? null : formatValue(check.target_rate, "per_second", locale)],
    [
      t("runs.page.reached"),
      check.reached_rate === null ? null : formatValue(check.reached_rate, "per_second", locale),
    ],
    [t("runs.page.clients"), check.clients == null ? null : formatCount(check.clients)],
    [
      t("runs.page.ceilingRate"),
      check.ceiling_rate == null ? null : formatValue(check.ceiling_rate, "per_second", locale),
    ],
    [t("runs.page.dropped"), check.dropped_iterations === null ? null : formatCount(check.dropped_iterations)],
    [t("runs.page.generatorCpu"), check.cpu_max === null ? null : formatValue(check.cpu_max, "ratio", locale)],
    [
      t("runs.page.generatorCores"),
      check.process_cores === null || check.process_cores === undefined ? null : check.process_cores.toFixed(2),
    ],
  ].filter((pair): pair is [string, string] => pair[1] !== null);
  return (
    <Section
      id="generator"
      title={t("runs.page.generator")}
      aside={<StateMark tone={TONES[state] ?? "unknown"} label={t(`runs.page.generator_${state}`)} />}
    >
      {figures.length > 0 && (
        <Facts>
          {figures.map(([name, value]) => (
            <Fact key={name} name={name}>
              {value}
            </Fact>
          ))}
        </Facts>
      )}
      {state === "held-back" && <p>{t("runs.page.generatorHint_held-back")}</p>}
      {check.reasons.length > 0 ? (
        <ul className={classes.reasons}>
          {check.reasons.map((reason) => (
            <li key={reason}>{codeText(`runs.page.generatorReason_${reason}`, check.detail || reason)}</li>
          ))}
        </ul>
      ) : (
        <Hint>{t(`runs.page.generatorHint_${state}`)}</Hint>
      )}
      {check.remarks?.map((remark) => (
        <Hint key={remark}>{codeText(`runs.page.generatorRemark_${remark}`, remark)}</Hint>
      ))}
    </Section>
  );
}
