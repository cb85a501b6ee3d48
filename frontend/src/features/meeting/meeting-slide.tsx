import { useQuery } from "@tanstack/react-query";
import type { ComponentType } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { reviewQuery, runQuery } from "@/api/runs/queries";
import type { Review, Run } from "@/api/runs/types";
import { runTitle, shortCommit } from "@/lib/run-text";
import { formatDuration, formatInstant } from "@/lib/time/time";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { faultText } from "@/ui/fault/problem";
import { Loading } from "@/ui/loading";
import { PageMessage } from "@/ui/page-message";
import { FindingsSlide } from "./findings-slide";
import classes from "./meeting.module.css";
import { FiguresCard, VerdictCard } from "./meeting-parts";
import { PrintedChart, RunChart } from "./run-chart";

/** What the run's page shows as well; the application gives it. */
export interface RunParts {
  readonly Review: ComponentType<{ readonly run: Run }>;
  readonly SavedReview: ComponentType<{ readonly review: Review }>;
  readonly Limits: ComponentType<{ readonly run: Run }>;
}

interface Props {
  readonly id: string;
  readonly parts: RunParts;
  /** What the team wrote is only shown, and the chart is small. */
  readonly onPaper?: boolean;
}

/** One run on one screen. */
export function MeetingSlide({ id, parts: { Review, SavedReview, Limits }, onPaper = false }: Props) {
  const { t } = useTranslation();
  const run = useQuery(runQuery(id));
  const review = useQuery(reviewQuery(id));
  const base = run.data?.baseline ?? null;
  const baseline = useQuery({ ...runQuery(base ?? ""), enabled: base !== null && base !== id });
  if (run.isError) {
    return (
      <PageMessage icon="warning" title={t("meeting.runFailed")} role="alert">
        <p>{faultText(run.error, t)}</p>
      </PageMessage>
    );
  }
  if (run.data === undefined) return <Loading height={480} label={t("meeting.loading")} />;
  return (
    <article className={classes.slide} aria-labelledby={`slide-${id}`}>
      <SlideHead run={run.data} />
      <div className={classes.columns}>
        <div className={classes.column}>
          <VerdictCard run={run.data} />
          <FiguresCard run={run.data} baseline={baseline.data ?? null} />
          {onPaper ? <PrintedChart run={run.data} /> : <RunChart run={run.data} />}
        </div>
        <div className={classes.column}>
          <FindingsSlide run={run.data} />
          <Limits run={run.data} />
        </div>
      </div>
      <div className={classes.review}>
        {onPaper ? review.data && <SavedReview review={review.data} /> : <Review run={run.data} />}
      </div>
      <p className={classes.links}>
        <Link to={`/runs/${id}`}>{t("meeting.open")}</Link>
        {base !== null && base !== id && (
          <Link to={`/runs/compare?run=${base}&run=${id}`}>{t("meeting.compareBaseline")}</Link>
        )}
      </p>
    </article>
  );
}

function SlideHead({ run }: { run: Run }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const { zone } = useView();
  const facts = [
    [run.scenario, run.scenario_version].filter(Boolean).join(" "),
    formatInstant(Math.floor(run.started_ms / 1000) * 1000, zone, locale),
    run.target_rate == null ? "" : t("meeting.target", { value: formatValue(run.target_rate, "per_second", locale) }),
    run.ended_ms === null ? "" : formatDuration(run.ended_ms - run.started_ms, locale),
    run.tool,
    ...Object.entries(run.parameters ?? {}).map(([key, value]) => `${key}=${value}`),
    run.commit === "" ? "" : `${shortCommit(run.commit)}${run.dirty === true ? ` ${t("meeting.dirty")}` : ""}`,
    run.author,
  ];
  return (
    <header className={classes.head}>
      <h2 className={classes.name} id={`slide-${run.id}`}>
        {runTitle(run)}
      </h2>
      <p className={classes.facts}>{facts.filter(Boolean).join(" · ")}</p>
    </header>
  );
}
