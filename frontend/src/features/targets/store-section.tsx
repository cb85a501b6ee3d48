import { useQuery } from "@tanstack/react-query";
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
import { Section } from "@/ui/page/section";
import { PageMessage } from "@/ui/page-message";
import { Fact, Facts } from "@/ui/text/facts";
import { Hint } from "@/ui/text/text";
import { StoreDamage } from "./store-damage";

/** The server looks at every sample for it. */
const REFRESH_MS = 300_000;

/** What the samples take on the disk, from when they are and for how long they are kept; and what harms them. */
export function StoreSection() {
  const { t } = useTranslation();
  const store = useQuery({ ...storeQuery, refetchInterval: REFRESH_MS });
  const isElsewhere = store.error instanceof ApiError && store.error.code === "no-store-figures";
  return (
    <Section id="store" title={t("store.title")}>
      {isElsewhere ? <Hint>{t("store.elsewhere")}</Hint> : <QueryFault title={t("store.failed")} query={store} />}
      {store.isPending && <Loading height={60} label={t("store.loading")} />}
      {store.data !== undefined && (
        <>
          <StoreDamage store={store.data} />
          <ClockJump jumpMs={store.data.clock_jump_ms} />
          <Overview store={store.data} />
          <Hint>{t("store.more")}</Hint>
        </>
      )}
    </Section>
  );
}

/** That deletion waits because the clock jumped; nothing while it did not. */
export function ClockJump({ jumpMs }: { readonly jumpMs: number }) {
  const { t } = useTranslation();
  const locale = useLocale();
  if (jumpMs === 0) return null;
  const span = formatDuration(Math.abs(jumpMs), locale);
  return (
    <PageMessage icon="warning" title={t("store.jumped")} role="alert">
      <p>{t(jumpMs > 0 ? "store.jumpedAhead" : "store.jumpedBehind", { span })}</p>
    </PageMessage>
  );
}

function Overview({ store }: { store: StoreFigures }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const { zone } = useView();
  const bytes = (value: number) => formatValue(value, "bytes", locale);
  const count = (value: number) => formatValue(value, "count", locale);
  const instant = (timeMs: number | null) =>
    timeMs === null ? "–" : formatInstant(Math.floor(timeMs / 1000) * 1000, zone, locale);
  return (
    <Facts>
      <Fact name={t("store.file")} leads>
        {bytes(store.file_bytes)}
      </Fact>
      <Fact name={t("store.disk")}>{bytes(store.disk_free_bytes)}</Fact>
      <Fact name={t("store.samples")}>{count(store.hot.samples + store.sealed.samples)}</Fact>
      <Fact name={t("store.series")}>
        {t("store.seriesOf", { series: count(store.series), limit: count(store.series_limit) })}
      </Fact>
      <Fact name={t("store.oldest")}>{instant(store.oldest_ms)}</Fact>
      <Fact name={t("store.newest")}>{instant(store.newest_ms)}</Fact>
      <Fact name={t("store.kept")}>{formatDuration(store.retention_ms, locale)}</Fact>
      <Fact name={t("store.rollupsKept")}>{formatDuration(store.rollup_retention_ms, locale)}</Fact>
    </Facts>
  );
}
