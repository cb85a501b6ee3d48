import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { forecastQuery } from "@/api/compare/queries";
import type { Capacity, CapacityLaw, CapacityResource, CapacityRun } from "@/api/compare/types";
import { XyChart } from "@/charts/xy/xy-chart";
import { XyKey } from "@/charts/xy/xy-key";
import { formatMeasure } from "@/lib/run-text";
import { useLocale } from "@/lib/use-locale";
import { QueryFault } from "@/ui/fault/query-fault";
import { Table } from "@/ui/list/table";
import { Loading } from "@/ui/loading";
import { Frame, Section } from "@/ui/page/section";
import { Disclosure } from "@/ui/text/disclosure";
import { Hint, TextButton } from "@/ui/text/text";
import classes from "../compare.module.css";
import { toUnit } from "../model/run-links";
import { CapacityPast } from "./capacity-past";
import { capacityPoints, capacityTicks, countCommits, RATE, splitResources } from "./capacity-points";

/** At which rate each resource is full, as the runs of a scenario tell, and what earlier forecasts were worth. */
export function CapacitySection({ scenario, version }: { scenario: string; version: string | null }) {
  const { t } = useTranslation();
  const forecast = useQuery(forecastQuery(scenario, version));
  return (
    <Section id="capacity" title={t("compare.capacity")}>
      {forecast.isPending && <Loading height={160} label={t("compare.capacityLoading")} />}
      {forecast.isError && <QueryFault title={t("compare.capacityFailed")} query={forecast} />}
      {forecast.data && <CapacityView capacity={forecast.data} />}
    </Section>
  );
}

function CapacityView({ capacity }: { capacity: Capacity }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const [chosen, choose] = useState<string | null>(null);
  const { now } = capacity;
  const { known, refused } = splitResources(capacity);
  const shown = known.find(({ resource }) => resource.key === chosen) ?? known[0];
  const commits = countCommits(capacity);
  return (
    <>
      <p className={classes.said}>{now.sentence[locale]}</p>
      {now.runs.length > 0 && (
        <p className={classes.foot}>{t("compare.capacityPeak", { text: now.peak_text[locale] })}</p>
      )}
      {known.length > 0 && <Hint>{t("compare.capacityHint", { runs: now.runs.length })}</Hint>}
      {commits > 1 && <Hint>{t("compare.capacityCommits", { count: commits })}</Hint>}
      {now.other_runs > 0 && <Hint>{t("compare.capacityOthers", { count: now.other_runs })}</Hint>}
      {known.length > 0 && <ResourceTable known={known} shown={shown?.resource.key ?? ""} onShow={choose} />}
      {shown && <ResourceChart resource={shown.resource} runs={now.runs} />}
      {refused.length > 0 && (
        <Disclosure
          summary={t("compare.capacityRefused", { count: refused.length })}
          opened={known.length === 0 && refused.length < 8}
        >
          <dl className={classes.refusals}>
            {refused.map((resource) => (
              <div key={resource.key}>
                <dt>{titleOf(resource, locale)}</dt>
                <dd>{resource.text[locale]}</dd>
              </div>
            ))}
          </dl>
        </Disclosure>
      )}
      {now.runs.length > 0 && <RunsOfForecast runs={now.runs} />}
      <CapacityPast capacity={capacity} />
    </>
  );
}

function titleOf(resource: CapacityResource, locale: "en" | "ja"): string {
  const title = resource.title[locale];
  return resource.name === "" ? title : `${title} · ${resource.name}`;
}

interface TableProps {
  readonly known: readonly { readonly resource: CapacityResource; readonly law: CapacityLaw }[];
  readonly shown: string;
  readonly onShow: (key: string) => void;
}

function ResourceTable({ known, shown, onShow }: TableProps) {
  const { t } = useTranslation();
  const locale = useLocale();
  const rate = (value: number) => formatMeasure(value, RATE, locale);
  return (
    <Table label={t("compare.capacityTable")} className={classes.table}>
      <thead>
        <tr>
          <th scope="col">{t("compare.capacityResource")}</th>
          <th scope="col" data-number>
            {t("compare.capacityFull")}
          </th>
          <th scope="col">{t("compare.capacitySeen")}</th>
          <th scope="col" data-number>
            {t("compare.capacityDemand")}
          </th>
          <th scope="col" data-number>
            {t("compare.runs")}
          </th>
          <th scope="col" data-number>
            {t("compare.capacityPoints")}
          </th>
        </tr>
      </thead>
      <tbody>
        {known.map(({ resource, law }) => (
          <tr key={resource.key}>
            <th scope="row">
              <TextButton aria-pressed={resource.key === shown} onClick={() => onShow(resource.key)}>
                {titleOf(resource, locale)}
              </TextButton>
              {resource.text[locale] !== "" && <div className={classes.remark}>{resource.text[locale]}</div>}
            </th>
            <td data-number>
              {rate(law.rate)}
              <div className={classes.interval}>
                {rate(law.low)} – {rate(law.high)}
              </div>
            </td>
            <td>
              {t("compare.capacitySeenAt", {
                use: formatMeasure(law.top_use, resource.unit, locale),
                limit: formatMeasure(resource.limit, resource.unit, locale),
                rate: rate(law.top_rate),
              })}
              {law.reached !== null && (
                <div className={classes.remark}>{t("compare.capacityReached", { rate: rate(law.reached) })}</div>
              )}
            </td>
            <td data-number>{formatMeasure(law.demand, resource.unit, locale)}</td>
            <td data-number>{new Set(resource.points.map(({ run }) => run)).size}</td>
            <td data-number>{resource.points.length}</td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

function ResourceChart({ resource, runs }: { resource: CapacityResource; runs: readonly CapacityRun[] }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const [active, setActive] = useState<string | null>(null);
  const points = useMemo(() => {
    const names = new Map(runs.map((run) => [run.run, run.name || run.run]));
    return capacityPoints(
      resource,
      names,
      {
        step: (rate, use) => t("compare.capacityStep", { rate, use }),
        stepOf: (run, seconds) => t("compare.capacityStepOf", { run, seconds }),
        full: (rate, low, high) => t("compare.capacityFullPoint", { rate, low, high }),
      },
      locale,
    );
  }, [resource, runs, t, locale]);
  const ticks = useMemo(() => capacityTicks(points, locale), [points, locale]);
  return (
    <div className={classes.capacityChart}>
      <Frame>
        <XyChart
          title={t("compare.capacityChart", { resource: titleOf(resource, locale) })}
          unit={toUnit(resource.unit)}
          points={points}
          ticks={ticks}
          joined={false}
          active={active}
          onActive={setActive}
        />
      </Frame>
      <XyKey
        items={[
          { look: "plain", label: t("compare.capacityKeyStep") },
          { look: "hollow", label: t("compare.capacityKeyFull") },
        ]}
      />
    </div>
  );
}

function RunsOfForecast({ runs }: { runs: readonly CapacityRun[] }) {
  const { t } = useTranslation();
  const locale = useLocale();
  return (
    <Disclosure summary={t("compare.capacityRuns")}>
      <Table label={t("compare.capacityRuns")} className={classes.table}>
        <thead>
          <tr>
            <th scope="col">{t("compare.capacityRun")}</th>
            <th scope="col" data-number>
              {t("compare.capacityTop")}
            </th>
            <th scope="col">{t("compare.capacityLeft")}</th>
            <th scope="col">{t("compare.capacityLittle")}</th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <tr key={run.run}>
              <th scope="row">
                <Link className={classes.link} to={`/runs/${run.run}`}>
                  {run.name || run.run}
                </Link>
              </th>
              <td data-number>{formatMeasure(run.top_rate, RATE, locale)}</td>
              <td className={classes.words}>
                {run.left_out
                  .map(({ seconds, text }) =>
                    t("compare.capacityLeftPart", { seconds: Math.round(seconds), reason: text[locale] }),
                  )
                  .join(", ") || t("compare.capacityNothingLeft")}
              </td>
              <td className={classes.words}>
                {run.little === null ? "–" : `${run.little.toFixed(2)} `}
                {run.little_text?.[locale]}
              </td>
            </tr>
          ))}
        </tbody>
      </Table>
    </Disclosure>
  );
}
