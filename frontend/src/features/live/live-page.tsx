import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { signalsQuery } from "@/api/queries";
import { useLocale } from "@/lib/use-locale";
import { FeedProvider } from "@/panels/feed/feed-context";
import { LiveFindings } from "@/panels/findings/live-findings";
import { HeadroomStrip } from "@/panels/headroom-strip";
import { panelsOf } from "@/panels/panel-catalogue";
import { QueryFault } from "@/ui/fault/query-fault";
import { Loading } from "@/ui/loading";
import { PageMessage } from "@/ui/page-message";
import { Board } from "./board";
import { LiveNotices } from "./live-notices";
import classes from "./live-page.module.css";
import { RunsUnderWay } from "./runs-under-way";
import { useLiveTitle } from "./use-live-title";

/** What happens right now, or happened in the range: limits first, then the charts. */
export function LivePage() {
  const { t } = useTranslation();
  const catalogue = useQuery(signalsQuery(useLocale()));
  useLiveTitle();
  return (
    <FeedProvider>
      <h1 className="lw-visually-hidden">{t("live.title")}</h1>
      <LiveNotices />
      <RunsUnderWay />
      <LiveFindings />
      <HeadroomStrip />
      {catalogue.isPending && (
        <div className={classes.grid} role="status" aria-label={t("live.loading")}>
          {[1, 2, 3, 4].map((place) => (
            <Loading key={place} height={280} />
          ))}
        </div>
      )}
      <QueryFault title={t("live.catalogueFailed")} query={catalogue} />
      {catalogue.data?.signals.length === 0 && <PageMessage icon="pulse" title={t("live.noSignals")} />}
      {catalogue.data && <Board groups={panelsOf(catalogue.data)} />}
    </FeedProvider>
  );
}
