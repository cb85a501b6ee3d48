import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { signalsQuery } from "@/api/queries";
import type { Run } from "@/api/runs/types";
import { useLocale } from "@/lib/use-locale";
import { useNothingConnected } from "@/panels/connect/use-nothing-connected";
import { FeedProvider } from "@/panels/feed/feed-context";
import { LiveFindings } from "@/panels/findings/live-findings";
import { useLiveFindings } from "@/panels/findings/use-live-findings";
import { useWorstOf, WorstInstances } from "@/panels/findings/worst";
import { Headroom } from "@/panels/headroom/headroom";
import { roomBefore } from "@/panels/headroom/room";
import { useHeadroom } from "@/panels/headroom/use-headroom";
import { panelsOf } from "@/panels/panel-catalogue";
import { QueryFault } from "@/ui/fault/query-fault";
import { LoadingChart } from "@/ui/page/loading-chart";
import { PageMessage } from "@/ui/page-message";
import { Board } from "./board";
import { Cockpit } from "./cockpit/cockpit";
import { useFollowed } from "./cockpit/use-followed";
import { LiveNotices } from "./live-notices";
import classes from "./live-page.module.css";
import { useLiveTitle } from "./use-live-title";

const NO_RUNS: readonly Run[] = [];
/** Of a chart with its title and legend. */
const CARD_HEIGHT = 228;

/** What happens right now, or happened in the range: the run under way and the limits first, then the charts. */
export function LivePage() {
  const { t } = useTranslation();
  const catalogue = useQuery(signalsQuery(useLocale()));
  const followed = useFollowed();
  const bare = useNothingConnected();
  const groups = useMemo(() => (catalogue.data === undefined ? null : panelsOf(catalogue.data)), [catalogue.data]);
  // At a first visit nobody knows how much room limits take: what stands below them comes after them.
  const placed = !useHeadroom().isPending || roomBefore() !== null;
  useLiveTitle();
  const findings = useLiveFindings().data?.findings;
  return (
    <FeedProvider>
      <WorstInstances value={useWorstOf(findings)}>
        <h1 className="lw-visually-hidden">{t("live.title")}</h1>
        <div className={classes.page} data-under-way={followed.underWay}>
          <Cockpit {...followed} />
          <LiveNotices />
          <LiveFindings runs={followed.runs} />
          <Headroom />
          {placed && catalogue.isPending && (
            <div className={classes.grid} data-group="mission" role="status" aria-label={t("live.loading")}>
              {[1, 2, 3, 4, 5, 6].map((place) => (
                <LoadingChart key={place} height={CARD_HEIGHT} />
              ))}
            </div>
          )}
          <QueryFault title={t("live.catalogueFailed")} query={catalogue} />
          {groups?.length === 0 && <PageMessage icon="pulse" title={t("live.noSignals")} />}
          {placed && groups !== null && (
            <Board groups={groups} bare={bare} runs={followed.underWay ? followed.runs : NO_RUNS} />
          )}
        </div>
      </WorstInstances>
    </FeedProvider>
  );
}
