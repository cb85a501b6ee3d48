import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { ApiError } from "@/api/client";
import { storeQuery } from "@/api/store/queries";
import type { StoreFigures } from "@/api/store/types";
import { formatDuration, formatInstant } from "@/lib/time/time";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { QueryFault } from "@/ui/fault/query-fault";
import { Loading } from "@/ui/loading";
import { PageHead } from "@/ui/page/page-head";
import { Section } from "@/ui/page/section";
import { PageMessage } from "@/ui/page-message";
import { Fact, Facts } from "@/ui/text/facts";
import { Hint } from "@/ui/text/text";
import { StoreDamage } from "./store-damage";
import { GroupTable, LabelTable } from "./store-tables";

const REFRESH_MS = 60_000;

/** Where the disk space of samples goes, and what brings the most series. */
export function StorePage() {
  const { t } = useTranslation();
  const store = useQuery({ ...storeQuery, refetchInterval: REFRESH_MS });
  const isElsewhere = store.error instanceof ApiError && store.error.code === "no-store-figures";
  return (
    <>
      <PageHead title={t("store.title")} />
      <Hint>{t("store.lead")}</Hint>
      {isElsewhere ? (
        <PageMessage icon="info" title={t("store.elsewhere")}>
          <p>{t("store.elsewhereHint")}</p>
        </PageMessage>
      ) : (
        <QueryFault title={t("store.failed")} query={store} />
      )}
      {store.isPending && <Loading height={420} label={t("store.loading")} />}
      {store.data !== undefined && (
        <>
          <StoreDamage store={store.data} />
          <Section title={t("store.overview")}>
            <Overview store={store.data} />
          </Section>
          <Part title={t("store.byBytes")} shown={store.data.metrics.length} total={store.data.metrics_total}>
            <GroupTable label={t("store.byBytes")} groups={store.data.metrics} />
          </Part>
          <Part
            title={t("store.bySeries")}
            shown={store.data.metrics_by_series.length}
            total={store.data.metrics_total}
          >
            <GroupTable label={t("store.bySeries")} groups={store.data.metrics_by_series} />
          </Part>
          <Part title={t("store.byJob")} shown={store.data.jobs.length} total={store.data.jobs_total}>
            <GroupTable label={t("store.byJob")} groups={store.data.jobs} />
          </Part>
          <Part title={t("store.byLabel")} shown={store.data.labels.length} total={store.data.labels_total}>
            <LabelTable labels={store.data.labels} />
          </Part>
          <Hint>{t("store.compact")}</Hint>
        </>
      )}
    </>
  );
}

interface PartProps {
  readonly title: string;
  readonly shown: number;
  readonly total: number;
  readonly children: ReactNode;
}

function Part({ title, shown, total, children }: PartProps) {
  const { t } = useTranslation();
  return (
    <Section title={title} aside={t("store.shown", { shown, total })}>
      {children}
    </Section>
  );
}

function Overview({ store }: { store: StoreFigures }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const { zone } = useView();
  const bytes = (count: number) => formatValue(count, "bytes", locale);
  const samples = (part: StoreFigures["hot"]) =>
    t("store.of", { samples: formatValue(part.samples, "count", locale), bytes: bytes(part.bytes) });
  const instant = (timeMs: number | null) =>
    timeMs === null ? "–" : formatInstant(Math.floor(timeMs / 1000) * 1000, zone, locale);
  const each = store.sealed.samples > 0 ? (store.sealed.bytes / store.sealed.samples).toFixed(2) : null;
  return (
    <Facts>
      <Fact name={t("store.file")} leads>
        {bytes(store.file_bytes)}
      </Fact>
      <Fact name={t("store.free")}>{bytes(store.free_bytes)}</Fact>
      <Fact name={t("store.disk")}>{bytes(store.disk_free_bytes)}</Fact>
      <Fact name={t("store.hot")}>{samples(store.hot)}</Fact>
      <Fact name={t("store.sealed")}>
        {samples(store.sealed)}
        {each !== null && ` (${t("store.each", { bytes: each })})`}
      </Fact>
      <Fact name={t("store.rollups")}>
        {t("store.minutes", {
          minutes: formatValue(store.rollups.samples, "count", locale),
          bytes: bytes(store.rollups.bytes),
        })}
      </Fact>
      <Fact name={t("store.series")}>
        {t("store.seriesOf", {
          series: formatValue(store.series, "count", locale),
          limit: formatValue(store.series_limit, "count", locale),
        })}
      </Fact>
      <Fact name={t("store.oldest")}>{instant(store.oldest_ms)}</Fact>
      <Fact name={t("store.newest")}>{instant(store.newest_ms)}</Fact>
      <Fact name={t("store.kept")}>{formatDuration(store.retention_ms, locale)}</Fact>
      <Fact name={t("store.rollupsKept")}>{formatDuration(store.rollup_retention_ms, locale)}</Fact>
    </Facts>
  );
}
