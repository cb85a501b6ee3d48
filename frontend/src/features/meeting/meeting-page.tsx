import { Button } from "@mantine/core";
import { useQueries, useQuery } from "@tanstack/react-query";
import { useRef } from "react";
import { useTranslation } from "react-i18next";
import { Link, useSearchParams } from "react-router";
import { meetingQuery } from "@/api/compare/queries";
import { reviewQuery, runQuery } from "@/api/runs/queries";
import { runTitle } from "@/lib/run-text";
import { formatInstant } from "@/lib/time/time";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { QueryFault } from "@/ui/fault/query-fault";
import { Icon } from "@/ui/icon";
import { Loading } from "@/ui/loading";
import { usePageTitle } from "@/ui/page/use-page-title";
import { PageMessage } from "@/ui/page-message";
import { addressOf, placeOf } from "./headline";
import classes from "./meeting.module.css";
import { MeetingBar } from "./meeting-bar";
import { MeetingEnd } from "./meeting-end";
import { MeetingSlide } from "./meeting-slide";
import { useMeetingKeys } from "./use-meeting-keys";
import { usePrinting } from "./use-printing";

/** Steps through the runs since the last review meeting, one a screen, in type that a whole room can read. */
export function MeetingPage() {
  const { t } = useTranslation();
  const meeting = useQuery(meetingQuery);
  usePageTitle(t("meeting.title"));
  if (meeting.isError) return <QueryFault title={t("meeting.failed")} query={{ ...meeting, data: undefined }} />;
  if (meeting.data === undefined) {
    return <Loading height={480} label={t("meeting.loading")} />;
  }
  return meeting.data.runs.length === 0 ? (
    <NoRuns sinceMs={meeting.data.since_ms} />
  ) : (
    <Room runs={meeting.data.runs} sinceMs={meeting.data.since_ms} />
  );
}

function NoRuns({ sinceMs }: { sinceMs: number | null }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const { zone } = useView();
  return (
    <>
      <h1 className="lw-visually-hidden">{t("meeting.title")}</h1>
      <PageMessage icon="people" title={t("meeting.none")}>
        <p>
          {sinceMs === null
            ? t("meeting.noneEver")
            : t("meeting.noneSince", { time: formatInstant(sinceMs, zone, locale) })}
        </p>
        <Link to="/runs">{t("nav.runs")}</Link>
      </PageMessage>
    </>
  );
}

function Room({ runs, sinceMs }: { runs: readonly string[]; sinceMs: number | null }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const { zone } = useView();
  const room = useRef<HTMLDivElement>(null);
  const [params, setParams] = useSearchParams();
  const { index, count } = placeOf(runs, params.get("run"));
  const printing = usePrinting();
  // Every screen is ready when its turn comes, and for the printer.
  const documents = useQueries({ queries: runs.map((run) => runQuery(run)) });
  const titles = runs.map((run, place) => runTitle(documents[place]?.data ?? { id: run, name: "", scenario: "" }));
  useQueries({ queries: runs.map((run) => reviewQuery(run)) });
  const show = (place: number) =>
    setParams(
      (held) => {
        const next = new URLSearchParams(held);
        next.set("run", addressOf(runs, Math.min(count, Math.max(0, place))));
        return next;
      },
      { replace: true },
    );
  const go = (step: number) => show(index + step);
  const full = () => {
    if (document.fullscreenElement !== null) void document.exitFullscreen();
    // A browser may refuse; the page is as large as its window then.
    else room.current?.requestFullscreen?.().catch(() => undefined);
  };
  useMeetingKeys({ go, first: () => show(0), last: () => show(count), full });
  const current = runs[index];
  return (
    <div ref={room} className={classes.room}>
      <h1 className="lw-visually-hidden">{t("meeting.title")}</h1>
      <div className={classes.top}>
        <Link to="/runs" className={classes.back}>
          {t("meeting.leave")}
        </Link>
        <span className={classes.count}>
          {sinceMs === null ? t("meeting.all") : t("meeting.since", { time: formatInstant(sinceMs, zone, locale) })}
        </span>
        <Button size="compact-sm" variant="default" leftSection={<Icon name="expand" size={13} />} onClick={full}>
          {t("meeting.full")}
        </Button>
        <Button size="compact-sm" variant="default" onClick={() => globalThis.print()}>
          {t("meeting.print")}
        </Button>
      </div>
      <div className={classes.screen} aria-live="polite">
        {current === undefined ? (
          <MeetingEnd runs={runs} onShow={(run) => show(runs.indexOf(run))} />
        ) : (
          <MeetingSlide key={current} id={current} />
        )}
      </div>
      {printing && (
        <div className={classes.print}>
          {runs.map((run) => (
            <MeetingSlide key={run} id={run} />
          ))}
        </div>
      )}
      <MeetingBar titles={titles} index={index} onShow={show} />
    </div>
  );
}
