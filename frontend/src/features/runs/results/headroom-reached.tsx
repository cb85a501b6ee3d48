import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { ResourceReached, Run } from "@/api/runs/types";
import { HeadroomBar, type HeadroomState } from "@/charts/bars/headroom-bar";
import { formatElapsed, formatMeasure } from "@/lib/run-text";
import { formatClock, formatDuration } from "@/lib/time/time";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { placeOfWorst, worstInstances } from "@/panels/findings/worst";
import { Section } from "@/ui/page/section";
import { StateMark, type Tone } from "@/ui/state-mark";
import { Dim, Hint, TextButton } from "@/ui/text/text";
import classes from "../page/run-page.module.css";

const TONES: Readonly<Record<HeadroomState, Tone>> = { ok: "ok", near: "warn", exhausted: "bad" };
/** Below this a limit explains nothing; a few are shown nevertheless, as the ones that came nearest. */
const WORTH_SHOWING = 0.5;
const LEAST_SHOWN = 4;
/** At its limit, though not for long enough to be called full. */
const REACHED = 0.995;
const MOST_SHOWN = 12;

/** The highest use of each limit: those that did harm first, in the order in which they were full. */
export function HeadroomReached({ run: { resources, findings, started_ms: startMs } }: { run: Run }) {
  const { t } = useTranslation();
  const [all, setAll] = useState(false);
  const rows = oneOfEach(resources, worstInstances(findings));
  const worth = rows.filter(({ one }) => one.exhausted || one.ratio_max >= WORTH_SHOWING).length;
  const few = Math.min(MOST_SHOWN, Math.max(LEAST_SHOWN, worth));
  const shown = all ? resources.map((one) => ({ one, more: 0 })) : rows.slice(0, few);
  return (
    <Section id="limits" title={t("runs.page.nav_limits")} aside={t("runs.page.limitsHint")}>
      {resources.length === 0 && <Hint>{t("runs.page.noLimits")}</Hint>}
      <ul className={classes.limits}>
        {shown.map((limit) => (
          <Limit key={`${limit.one.resource} ${JSON.stringify(limit.one.labels)}`} limit={limit} startMs={startMs} />
        ))}
      </ul>
      {resources.length > Math.min(few, rows.length) && (
        <TextButton aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? t("runs.page.fewerLimits") : t("headroom.all", { count: resources.length })}
        </TextButton>
      )}
    </Section>
  );
}

interface LimitRow {
  readonly one: ResourceReached;
  /** Other instances of which the same is true. */
  readonly more: number;
}

/** One row for all instances of a resource that were full, and one for those that were not: the worst of them. */
function oneOfEach(resources: readonly ResourceReached[], worst: readonly string[]): readonly LimitRow[] {
  const groups = new Map<string, ResourceReached[]>();
  for (const one of resources) {
    const key = `${one.resource} ${one.exhausted} ${one.place == null}`;
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups.values()].flatMap((members) => {
    const one = members[Math.max(placeOfWorst(worst, members), 0)];
    return one === undefined ? [] : [{ one, more: members.length - 1 }];
  });
}

function Limit({ limit: { one, more }, startMs }: { limit: LimitRow; startMs: number }) {
  const { t } = useTranslation();
  const { zone } = useView();
  const locale = useLocale();
  const title = locale === "ja" ? one.title_ja : one.title;
  const state: HeadroomState = one.exhausted ? "exhausted" : one.ratio_max >= one.near ? "near" : "ok";
  // Both clocks: the wall's to find the moment elsewhere, the run's to compare with other runs.
  const clock = (ms: number) => ({
    time: formatClock(ms, zone, "second"),
    elapsed: formatElapsed(Math.max(0, Math.round((ms - startMs) / 1000))),
  });
  return (
    <li>
      <div className={classes.limitLine}>
        <span>
          {one.place != null && (
            <span className={classes.place} title={t("runs.page.placeHint")}>
              {one.place}
            </span>
          )}
          <strong>{title}</strong>{" "}
          <Dim>{more > 0 ? t("runs.page.limitOf", { name: one.name, count: more }) : one.name}</Dim>
        </span>
        <StateMark
          tone={TONES[state]}
          label={t(`runs.page.use_${state === "near" && one.ratio_max >= REACHED ? "touched" : state}`)}
        />
      </div>
      <HeadroomBar
        ratio={one.ratio_max}
        state={state}
        nearAt={one.near}
        label={`${title} ${one.name}`}
        locale={locale}
      />
      <div className={classes.limitLine}>
        <Dim>
          {t("headroom.used", {
            used: formatMeasure(one.used_max, one.unit, locale),
            limit: formatMeasure(one.limit, one.unit, locale),
          })}{" "}
          ({formatValue(one.ratio_max, "ratio", locale)})
          {one.interval_ms != null &&
            ` · ${t("runs.page.knownEach", { interval: formatDuration(one.interval_ms, locale) })}`}
        </Dim>
        <Dim>
          {one.first_full_ms === null
            ? t("runs.page.mostAt", clock(one.at_ms))
            : t("runs.page.fullFrom", clock(one.first_full_ms))}
        </Dim>
      </div>
    </li>
  );
}
