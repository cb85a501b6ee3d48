import { Button, NativeSelect } from "@mantine/core";
import { useQueries, useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { meetingQuery } from "@/api/compare/queries";
import type { Meeting } from "@/api/compare/types";
import { reviewQuery, runQuery } from "@/api/runs/queries";
import { runTitle } from "@/lib/run-text";
import { formatInstant } from "@/lib/time/time";
import { useLocale } from "@/lib/use-locale";
import { useParams, withParams } from "@/lib/use-params";
import { useView } from "@/lib/view/context";
import { QueryFault } from "@/ui/fault/query-fault";
import { Icon } from "@/ui/icon";
import { Loading } from "@/ui/loading";
import { usePageTitle } from "@/ui/page/use-page-title";
import { PageMessage } from "@/ui/page-message";
import { useKeys } from "@/ui/use-keys";
import { usePrinting } from "@/ui/use-printing";
import { addressOf, placeOf, type ScenarioChoice, scenariosOf } from "./headline";
import classes from "./meeting.module.css";
import { MeetingBar } from "./meeting-bar";
import { MeetingEnd } from "./meeting-end";
import { MeetingSlide, type RunParts } from "./meeting-slide";

/** Steps through the runs since the last review meeting, one a screen, in type that a whole room can read. */
export function MeetingPage({ parts }: { parts: RunParts }) {
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
    <Room meeting={meeting.data} parts={parts} />
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

function Room({ meeting, parts }: { meeting: Meeting; parts: RunParts }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const { zone } = useView();
  const room = useRef<HTMLDivElement>(null);
  const [params, change] = useParams();
  const [attendees, setAttendees] = useState<readonly string[]>([]);
  const printing = usePrinting();
  const { runs: all, scenarios, since_ms: sinceMs } = meeting;
  // Every screen is ready when its turn comes, and for the printer.
  const documents = useQueries({ queries: all.map((run) => runQuery(run)) });
  useQueries({ queries: all.map((run) => reviewQuery(run)) });
  const scenario = params.get("scenario") ?? "";
  const runs = all.filter((_, place) => scenario === "" || scenarios[place] === scenario);
  const { index, count } = placeOf(runs, params.get("run"));
  const titles = runs.map((run) => runTitle(documents[all.indexOf(run)]?.data ?? { id: run, name: "", scenario: "" }));
  const choose = (wanted: string) => change((held) => withParams(held, { run: null, scenario: wanted || null }), true);
  // From where the address stands: keys come faster than a screen is drawn.
  const move = (placeAfter: (index: number) => number) =>
    change((held) => {
      const place = placeAfter(placeOf(runs, held.get("run")).index);
      return withParams(held, { run: addressOf(runs, Math.min(count, Math.max(0, place))) });
    }, true);
  const show = (place: number) => move(() => place);
  const full = () => {
    if (document.fullscreenElement !== null) void document.exitFullscreen();
    // A browser may refuse; the page is as large as its window then.
    else room.current?.requestFullscreen?.().catch(() => undefined);
  };
  const keys: Readonly<Record<string, () => void>> = {
    ArrowRight: () => move((place) => place + 1),
    PageDown: () => move((place) => place + 1),
    ArrowLeft: () => move((place) => place - 1),
    PageUp: () => move((place) => place - 1),
    Home: () => show(0),
    End: () => show(count),
    f: full,
  };
  useKeys((event) => {
    const action = keys[event.key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  });
  const current = runs[index];
  return (
    <div ref={room} className={classes.room}>
      <h1 className="lw-visually-hidden">{t("meeting.title")}</h1>
      <div className={classes.top}>
        <Link to="/runs" className={classes.back}>
          {t("meeting.leave")}
        </Link>
        <ScenarioSelect choices={scenariosOf(scenarios)} value={scenario} total={all.length} onChange={choose} />
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
          <MeetingSlide key={current} id={current} parts={parts} />
        )}
      </div>
      {printing && (
        <div className={classes.print}>
          {runs.map((run) => (
            <MeetingSlide key={run} id={run} parts={parts} onPaper />
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
