import { Button } from "@mantine/core";
import { memo, useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";
import type { ChartBand, ChartLimit, ChartNote } from "@/charts/chart-types";
import type { Range } from "@/lib/time/time";
import { useView } from "@/lib/view/context";
import { ConnectHint } from "@/panels/connect/connect-hint";
import { useFeedState } from "@/panels/feed/feed-context";
import type { FeedState } from "@/panels/feed/live-feed";
import { FleetSwitch } from "@/panels/fleet-switch";
import { hasFleet, usualMode } from "@/panels/fleet-together";
import type { PanelGroup, PanelInfo } from "@/panels/panel-catalogue";
import { hasValues } from "@/panels/panel-series";
import { SignalPanel } from "@/panels/signal/signal-panel";
import { ErrorBoundary } from "@/ui/error-boundary";
import { faultText } from "@/ui/fault/problem";
import { Icon } from "@/ui/icon";
import { PageMessage } from "@/ui/page-message";
import { Badge } from "@/ui/text/tag";
import { Dim } from "@/ui/text/text";
import classes from "./live-page.module.css";
import { FIRST_GROUP, standsOpen } from "./use-groups";
import type { Watch } from "./use-wanted";

export interface PanelContext {
  readonly marks: readonly ChartNote[];
  readonly bands: readonly ChartBand[];
  /** By panel: what a run that is under way holds its values against. */
  readonly limits: ReadonlyMap<string, readonly ChartLimit[]>;
  readonly live: boolean;
  readonly onZoom: (range: Range) => void;
  readonly onZoomOut: () => void;
  readonly onInstant: (timeMs: number) => void;
  readonly onNote: (id: string) => void;
  readonly onFull: (id: string) => void;
  readonly onPerInstance: (id: string) => void;
}

interface Props extends PanelGroup {
  readonly folded: boolean;
  /** Nobody has connected an application yet: the charts of a load test have nothing to wait for. */
  readonly bare: boolean;
  readonly onFold: (folded: boolean) => void;
  readonly watch: Watch;
  readonly context: PanelContext;
}

/** The same with data and without: nothing moves as they come. */
const PLOT_HEIGHT = 170;
/** Both rows of the first charts are in sight below limits and cockpit, on a screen of 900 pixels. */
const FIRST_HEIGHT = 144;
/** Samples older than this are marked on their chart: three missed seconds, or three steps of a long range. */
const STALE_MS = 10_000;
const NO_LIMITS: readonly ChartLimit[] = [];

/** What is optional takes no room until there is something to see. */
export function isAbsent({ group, panels }: PanelGroup, answers: FeedState["answers"]): boolean {
  return group.optional === true && !panels.some((panel) => hasValues(panel, answers.get(panel.id)));
}

/** A group of charts under its heading. Without any data it is one line that says what would provide some. */
export function GroupSection({ group, panels, folded, bare, onFold, watch, context }: Props) {
  const { t } = useTranslation();
  const section = useRef<HTMLElement>(null);
  const { answers, pending } = useFeedState();
  useEffect(() => (section.current === null ? undefined : watch(group.id, section.current)), [watch, group.id]);
  const isEmpty = (panel: PanelInfo) => !hasValues(panel, answers.get(panel.id));
  // In their place and as high as they are: what stands below moves neither now nor when they come.
  const connects = bare && group.id === FIRST_GROUP && panels.every((panel) => answers.has(panel.id) && isEmpty(panel));
  // The first charts stay in view even without data, once anybody sends some.
  const isQuiet = (panel: PanelInfo) => {
    const answer = answers.get(panel.id);
    return !standsOpen(group.id) && answer !== undefined && !pending.has(panel.id) && isEmpty(panel) && !failed(answer);
  };
  const quiet = panels.filter(isQuiet);
  const loud = panels.filter((panel) => !quiet.includes(panel));
  // Without a name it is no landmark.
  if (isAbsent({ group, panels }, answers)) {
    return <section ref={section} id={`group-${group.id}`} />;
  }
  const fleet = panels.find((panel) => hasFleet(panel, answers.get(panel.id)));
  return (
    <section ref={section} id={`group-${group.id}`} tabIndex={-1} className={classes.group} aria-label={group.title}>
      {loud.length > 0 || folded ? (
        <>
          <div className={classes.groupRow}>
            <h2 className={classes.groupHead}>
              <button
                type="button"
                className={classes.foldButton}
                aria-expanded={!folded}
                aria-label={folded ? t("live.unfold", { group: group.title }) : t("live.fold", { group: group.title })}
                onClick={() => onFold(!folded)}
              >
                <Icon name={folded ? "chevronRight" : "chevronDown"} size={14} />
                {group.title}
              </button>
              {folded && <Dim>{t("live.panelCount", { count: panels.length })}</Dim>}
            </h2>
            {!folded && fleet !== undefined && (
              <FleetSwitch group={group.id} title={group.title} usual={usualMode(fleet, answers.get(fleet.id))} />
            )}
          </div>
          {!folded && connects && (
            <div className={classes.connect}>
              <ConnectHint />
            </div>
          )}
          {!folded && !connects && (
            <div className={classes.grid} data-group={group.id} data-rest={loud.length % 3}>
              {loud.map((panel) => (
                <ErrorBoundary key={panel.id} fallback={(error, retry) => <FailedPanel error={error} retry={retry} />}>
                  <FedPanel
                    panel={panel}
                    height={group.id === FIRST_GROUP ? FIRST_HEIGHT : PLOT_HEIGHT}
                    context={context}
                  />
                </ErrorBoundary>
              ))}
            </div>
          )}
          {!folded && quiet.length > 0 && <QuietPanels panels={quiet} />}
        </>
      ) : (
        <QuietPanels title={group.title} panels={panels} />
      )}
    </section>
  );
}

function failed(answer: Parameters<typeof hasValues>[1]): boolean {
  return answer?.results.some(({ error }) => error !== null) ?? false;
}

/** One line for charts that have nothing to show: their names, and on demand what would provide the data. */
function QuietPanels({ title, panels }: { title?: string; panels: readonly PanelInfo[] }) {
  const { t } = useTranslation();
  return (
    <details className={classes.quiet}>
      <summary>
        <Icon name="chevronRight" size={14} className={classes.quietArrow ?? ""} />
        {title !== undefined && <h2 className={classes.quietTitle}>{title}</h2>}
        <Badge>{t("live.groupNoData")}</Badge>
        <span className={classes.quietNames}>{panels.map((panel) => panel.title).join(" · ")}</span>
        <span className={classes.quietHint}>{t("live.groupProvides")}</span>
      </summary>
      <dl>
        {panels.map((panel) => (
          <div key={panel.id} id={`panel-${panel.id}`} tabIndex={-1}>
            <dt>{panel.title}</dt>
            <dd>{panel.help}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

/** In place of a panel that failed to render; the others go on. */
function FailedPanel({ error, retry }: { error: Error; retry: () => void }) {
  const { t } = useTranslation();
  return (
    <PageMessage
      icon="warning"
      title={t("panel.failed")}
      role="alert"
      actions={
        <Button size="compact-sm" variant="default" onClick={retry}>
          {t("action.retry")}
        </Button>
      }
    >
      <p>{String(error)}</p>
    </PageMessage>
  );
}

interface FedPanelProps {
  readonly panel: PanelInfo;
  readonly height: number;
  readonly context: PanelContext;
  readonly perInstance?: boolean;
}

/** A panel that takes its values from the feed. */
export const FedPanel = memo(function FedPanel(props: FedPanelProps) {
  const { panel, height, context, perInstance = false } = props;
  const { t } = useTranslation();
  const feed = useFeedState();
  const { pausedAt, fleets } = useView();
  const { marks, bands, limits, live, ...actions } = context;
  const answer = feed.answers.get(panel.id);
  const offline = feed.error?.code === "offline";
  return (
    <SignalPanel
      panel={panel}
      answer={answer}
      range={feed.range}
      nowMs={live ? feed.nowMs : null}
      staleAfterMs={live ? Math.max(STALE_MS, 3 * (answer?.stepMs ?? 0)) : null}
      pending={answer === undefined && (feed.pending.has(panel.id) || feed.error === null)}
      error={
        feed.error === null || answer !== undefined ? null : offline ? t("error.offline") : faultText(feed.error, t)
      }
      notes={marks}
      bands={bands}
      limits={limits.get(panel.id) ?? NO_LIMITS}
      height={height}
      perInstance={perInstance}
      fleet={fleets[panel.signals[0]?.group ?? ""]}
      missedUntilMs={live ? feed.nowMs : pausedAt}
      {...actions}
    />
  );
});
