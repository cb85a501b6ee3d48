import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { headroomQuery } from "@/api/queries";
import type { HeadroomEntry } from "@/api/types";
import { HeadroomBar } from "@/charts/bars/headroom-bar";
import { Sparkline } from "@/charts/bars/sparkline";
import { followsNow, resolveRange } from "@/lib/time/range";
import { formatDuration, formatInstant, wholeMinutes } from "@/lib/time/time";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { formatShare } from "@/lib/view/share";
import classes from "@/panels/headroom-strip.module.css";
import { Loading } from "@/ui/loading";
import { StateMark, type Tone } from "@/ui/state-mark";
import { Dim, TextButton } from "@/ui/text/text";

const TONES: Readonly<Record<HeadroomEntry["state"], Tone>> = { ok: "ok", near: "warn", exhausted: "bad" };
const REFRESH_MS = 2000;

/** Headroom at the moment that the page shows; null while there is no answer. */
export function useHeadroom() {
  const view = useView();
  const lang = useLocale();
  const atMs = view.live ? null : (view.pausedAt ?? (followsNow(view.range) ? null : resolveRange(view.range, 0).end));
  const query = useQuery({
    ...headroomQuery(lang, atMs),
    refetchInterval: atMs === null ? REFRESH_MS : false,
    placeholderData: (former) => former,
    retry: false,
  });
  return { ...query, atMs };
}

/** Every limit, the nearest leftmost: how much is used, how much is left, and for how long. */
export function HeadroomStrip() {
  const { t } = useTranslation();
  const locale = useLocale();
  const view = useView();
  const { data, error, isPending, atMs } = useHeadroom();
  const [all, setAll] = useState(false);
  const entries = data?.resources ?? [];
  return (
    <section className={classes.section} aria-label={t("headroom.title")}>
      <div className={classes.head}>
        <h2 className={classes.title}>{t("headroom.title")}</h2>
        <Dim>{t("headroom.hint")}</Dim>
        {atMs !== null && <Dim>{t("headroom.at", { time: formatInstant(atMs, view.zone, locale) })}</Dim>}
        {error !== null && (
          <span className={classes.error} role="alert">
            {t("headroom.failed")}: {error.message === "offline" ? t("error.offline") : error.message}
          </span>
        )}
        {entries.length > 1 && (
          <TextButton aria-expanded={all} onClick={() => setAll(!all)}>
            {all ? t("headroom.less") : t("headroom.all", { count: entries.length })}
          </TextButton>
        )}
      </div>
      {isPending && error === null && <Loading height={112} />}
      {data !== undefined && entries.length === 0 && (
        <p className={classes.none}>
          <strong>{t("headroom.none")}.</strong> {t("headroom.noneHint")}
        </p>
      )}
      {entries.length > 0 && (
        <ul className={classes.cards} data-all={all} tabIndex={all ? -1 : 0} aria-label={t("headroom.title")}>
          {entries.map((entry) => (
            <HeadroomCard
              key={`${entry.resource} ${JSON.stringify(entry.labels)}`}
              entry={entry}
              nowMs={data?.at_ms ?? 0}
            />
          ))}
        </ul>
      )}
    </section>
  );
}

function HeadroomCard({ entry, nowMs }: { entry: HeadroomEntry; nowMs: number }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const ratio = entry.limit > 0 ? entry.used / entry.limit : null;
  const left = formatShare(entry.headroom);
  const asOf = () =>
    entry.as_of_ms == null
      ? null
      : entry.late
        ? t("headroom.lateFor", { age: formatDuration(nowMs - entry.as_of_ms, locale) })
        : t("fleet.asOf", {
            source: entry.source ?? "",
            age: formatDuration(wholeMinutes(nowMs - entry.as_of_ms), locale),
          });
  const outlook = () => {
    if (entry.late) return null;
    if (entry.state === "exhausted") return t("headroom.exhaustedNow");
    if (entry.exhaustion_seconds === null) return t("headroom.steady");
    return t("headroom.exhaustedIn", { time: formatDuration(entry.exhaustion_seconds * 1000, locale) });
  };
  return (
    <li className={classes.card} data-state={entry.state}>
      <span className={classes.name} title={entry.title}>
        {entry.title}
      </span>
      <div className={classes.row}>
        <span className={classes.of} title={entry.name}>
          {entry.name}
        </span>
        {entry.late ? (
          <StateMark tone="warn" label={t("headroom.late")} />
        ) : (
          <StateMark tone={TONES[entry.state]} label={t(`headroom.state_${entry.state}`)} />
        )}
      </div>
      <div className={classes.figures}>
        <span className={classes.left}>{t("headroom.left", { headroom: left })}</span>
        <Sparkline values={entry.history} width={96} height={28} max={1} bound={1} />
      </div>
      <HeadroomBar
        ratio={ratio}
        state={entry.state}
        nearAt={entry.near}
        label={`${entry.title} ${entry.name}`}
        locale={locale}
      />
      <div className={classes.row}>
        <span className={classes.used}>
          {t("headroom.used", {
            used: formatValue(entry.used, entry.unit, locale),
            limit: formatValue(entry.limit, entry.unit, locale),
          })}
        </span>
        <span className={classes.outlook}>{outlook()}</span>
      </div>
      {entry.as_of_ms != null && <span className={classes.asOf}>{asOf()}</span>}
    </li>
  );
}
