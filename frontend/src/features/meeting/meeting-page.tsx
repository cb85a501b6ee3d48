import { Button, NativeSelect } from "@mantine/core";
import { useQueries, useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { meetingQuery } from "@/api/compare/queries";
import { reviewQuery, runQuery } from "@/api/runs/queries";
import { runTitle } from "@/lib/run-text";
import { formatInstant } from "@/lib/time/time";
import { useLocale } from "@/lib/use-locale";
import { useParams } from "@/lib/use-params";
import { useView } from "@/lib/view/context";
import { QueryFault } from "@/ui/fault/query-fault";
import { Icon } from "@/ui/icon";
import { Loading } from "@/ui/loading";
import { usePageTitle } from "@/ui/page/use-page-title";
import { PageMessage } from "@/ui/page-message";
import { addressOf, placeOf, type ScenarioChoice, scenariosOf } from "./headline";
import classes from "./meeting.module.css";
import { MeetingBar } from "./meeting-bar";
import { MeetingEnd } from "./meeting-end";
import { MeetingSlide, type ReviewPlace } from "./meeting-slide";
import { useMeetingKeys } from "./use-meeting-keys";
import { usePrinting } from "./use-printing";

/** Steps through the runs since the last review meeting, one a screen, in type that a whole room can read. */
export function MeetingPage({ Review }: { Review: ReviewPlace }) {
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
    <Room all={meeting.data.runs} sinceMs={meeting.data.since_ms} Review={Review} />
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

interface RoomProps {
  readonly all: readonly string[];
  readonly sinceMs: number | null;
  readonly Review: ReviewPlace;
}

function Room({ all, sinceMs, Review }: RoomProps) {
  const { t } = useTranslation();
  const locale = useLocale();
  const { zone } = useView();
  const room = useRef<HTMLDivElement>(null);
  const [params, change] = useParams();
  const [attendees, setAttendees] = useState<readonly string[]>([]);
  const printing = usePrinting();
  // Every screen is ready when its turn comes, and for the printer.
  const documents = useQueries({ queries: all.map((run) => runQuery(run)) });
  useQueries({ queries: all.map((run) => reviewQuery(run)) });
  const scenario = params.get("scenario") ?? "";
  const loading = scenario !== "" && documents.some(({ isPending }) => isPending);
  const runs = all.filter((_, place) => scenario === "" || documents[place]?.data?.scenario === scenario);
  const { index, count } = placeOf(runs, params.get("run"));
  const titles = runs.map((run) => runTitle(documents[all.indexOf(run)]?.data ?? { id: run, name: "", scenario: "" }));
  const choose = (wanted: string) =>
    change((held) => {
      const next = new URLSearchParams(held);
      next.delete("run");
      if (wanted === "") next.delete("scenario");
      else next.set("scenario", wanted);
      return next;
    }, true);
  const show = (place: number) =>
    change((held) => {
      const next = new URLSearchParams(held);
      next.set("run", addressOf(runs, Math.min(count, Math.max(0, place))));
      return next;
    }, true);
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
        <ScenarioSelect
          choices={scenariosOf(documents.flatMap(({ data }) => data ?? []))}
          value={scenario}
          total={all.length}
          onChange={choose}
        />
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
        {loading ? (
          <Loading height={480} label={t("meeting.loading")} />
        ) : current === undefined ? (
          <MeetingEnd
            runs={runs}
            scenario={scenario}
            others={all.length - runs.length}
            attendees={attendees}
            onAttendees={setAttendees}
            onShow={(run) => show(runs.indexOf(run))}
            onEnded={() => choose("")}
          />
        ) : (
          <MeetingSlide key={current} id={current} Review={Review} />
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

interface ScenarioProps {
  readonly choices: readonly ScenarioChoice[];
  readonly value: string;
  readonly total: number;
  readonly onChange: (scenario: string) => void;
}

/** Goes through the runs of one scenario alone; there is nothing to choose among runs of one. */
function ScenarioSelect({ choices, value, total, onChange }: ScenarioProps) {
  const { t } = useTranslation();
  if (choices.length < 2 && value === "") return null;
  const known = choices.some(({ scenario }) => scenario === value) || value === "";
  return (
    <NativeSelect
      size="xs"
      aria-label={t("meeting.scenario")}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      data={[
        { value: "", label: t("meeting.allScenarios", { count: total }) },
        ...choices.map(({ scenario, count }) => ({ value: scenario, label: `${scenario} (${count})` })),
        ...(known ? [] : [{ value, label: `${value} (0)` }]),
      ]}
    />
  );
}
