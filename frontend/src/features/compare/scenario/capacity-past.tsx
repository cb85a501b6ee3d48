import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import type { Capacity, ForecastScore, PastForecast } from "@/api/compare/types";
import { formatChange, formatMeasure } from "@/lib/run-text";
import { formatInstant } from "@/lib/time/time";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { StateMark } from "@/ui/state-mark";
import { Disclosure } from "@/ui/text/disclosure";
import { Dim, Hint } from "@/ui/text/text";
import classes from "../compare.module.css";
import { wholeSecond } from "../model/run-links";
import { RATE } from "./capacity-points";

const RESULTS = ["hit", "too-high", "too-low"] as const;

/** What was said before, and how it did against runs that went higher. */
export function CapacityPast({ capacity }: { capacity: Capacity }) {
  const { t } = useTranslation();
  const { past, record } = capacity;
  if (past.length === 0) return <Hint>{t("compare.capacityPastNone")}</Hint>;
  const scored = record.hits + record.too_high + record.too_low;
  return (
    <>
      <h3 className={classes.pastTitle}>{t("compare.capacityPast")}</h3>
      <p className={classes.foot}>
        {scored === 0
          ? t("compare.capacityOpen")
          : t("compare.capacityRecord", { hits: record.hits, high: record.too_high, low: record.too_low })}{" "}
        {record.bias !== null && t("compare.capacityBias", { bias: formatChange(record.bias) })}
      </p>
      <Disclosure summary={t("compare.capacityPastList", { count: past.length })} opened={past.length <= 3}>
        <ul className={classes.past}>
          {past.map((one) => (
            <li key={one.id}>
              <Past one={one} />
            </li>
          ))}
        </ul>
      </Disclosure>
    </>
  );
}

function Past({ one }: { one: PastForecast }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const { zone } = useView();
  return (
    <>
      <Dim>{formatInstant(wholeSecond(one.created_ms), zone, locale)}</Dim>
      <p>{one.sentence[locale]}</p>
      {one.scores.length === 0 ? (
        <Hint>{t("compare.capacityOpen")}</Hint>
      ) : (
        one.scores.map((score) => <Scored key={score.key} score={score} />)
      )}
    </>
  );
}

function Scored({ score }: { score: ForecastScore }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const rate = (value: number) => formatMeasure(value, RATE, locale);
  const result = RESULTS.find((known) => known === score.result);
  return (
    <p className={classes.score}>
      {result === undefined ? (
        score.result
      ) : (
        <StateMark tone={result === "hit" ? "ok" : "warn"} label={t(`compare.score_${result}`)} />
      )}
      <Link className={classes.link} to={`/runs/${score.run}`}>
        {t("compare.capacitySaid", {
          resource: score.title[locale],
          rate: rate(score.rate),
          low: rate(score.low),
          high: rate(score.high),
          truth: score.truth === null ? t("compare.capacityBeyond", { rate: rate(score.top_rate) }) : rate(score.truth),
        })}
      </Link>
      {score.error !== null && <Dim>{formatChange(score.error)}</Dim>}
    </p>
  );
}
