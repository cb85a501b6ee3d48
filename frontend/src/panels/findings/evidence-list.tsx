import { useTranslation } from "react-i18next";
import type { Evidence, Finding } from "@/api/findings/types";
import { MiniChart } from "@/charts/bars/mini-chart";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { CommandLine } from "@/ui/command-line";
import { Icon } from "@/ui/icon";
import { Tag } from "@/ui/text/tag";
import { Dim } from "@/ui/text/text";
import classes from "./findings.module.css";
import { chainOf, placeIn } from "./model";
import { type FindingTimes, useWords } from "./words";

/** The links of the chain that a finding stands on: which are there, which are not. */
export function BasedOn({ finding }: { finding: Finding }) {
  const { t } = useTranslation();
  return (
    <p className={classes.basedOn}>
      <Dim>{t("findings.basedOn")}</Dim>
      {chainOf(finding).map(({ link, seen }) => (
        <span key={link} className={classes.link} data-seen={seen} title={t(`findings.linkHint_${link}`)}>
          <Icon name={seen ? "check" : "close"} size={12} />
          {t(`findings.link_${link}`)}
          {!seen && <Dim>{t("findings.notSeen")}</Dim>}
        </span>
      ))}
      <Dim>{t(`findings.certaintyHint_${finding.certainty}`)}</Dim>
    </p>
  );
}

/** What was measured, each with its figure, its time and a small chart. */
export function EvidenceList({ finding, times }: { finding: Finding; times: FindingTimes }) {
  return (
    <ul className={classes.evidence}>
      {finding.evidence.map((one, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: evidence has no name; its order is the detector's
        <EvidenceItem key={place} one={one} times={times} />
      ))}
    </ul>
  );
}

function EvidenceItem({ one, times }: { one: Evidence; times: FindingTimes }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const words = useWords();
  const value = formatValue(one.value, one.unit, locale);
  const time = times.at(one.at_ms);
  return (
    <li className={classes.evidenceItem}>
      {one.chart !== null && <EvidenceChart one={one} chart={one.chart} times={times} />}
      <div className={classes.evidenceText}>
        <p>
          <Tag title={t(`findings.linkHint_${one.link}`)}>{t(`findings.link_${one.link}`)}</Tag> {words(one.text)}
        </p>
        <Dim>
          {one.limit === null
            ? t("findings.figureAt", { value, time })
            : t("findings.figureOf", { value, time, limit: formatValue(one.limit, one.unit, locale) })}
        </Dim>
        {one.expression !== "" && <CommandLine text={one.expression} copy={t("findings.copyQuery")} />}
      </div>
    </li>
  );
}

type Drawn = NonNullable<Evidence["chart"]>;

/** A small chart of one piece of evidence; drawn at once, so it is on paper, too. */
export function EvidenceChart({ one, chart, times }: { one: Evidence; chart: Drawn; times: FindingTimes }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const known = chart.values.filter((value) => value !== null);
  if (known.length === 0) return null;
  const from = times.brief(chart.start_ms);
  const to = times.brief(chart.start_ms + chart.step_ms * chart.values.length);
  const write = (value: number) => formatValue(value, one.unit, locale);
  const limit = one.limit === null ? "" : `, ${t("findings.chartLimit", { limit: write(one.limit) })}`;
  const at = placeIn(chart, one.at_ms);
  return (
    <MiniChart
      values={chart.values}
      top={write(Math.max(...known, one.limit ?? 0))}
      from={from}
      to={to}
      label={`${t("findings.chartLabel", { low: write(Math.min(...known)), high: write(Math.max(...known)), from, to })}${limit}`}
      {...(one.limit !== null && { bound: one.limit })}
      {...(at !== null && { at })}
    />
  );
}
