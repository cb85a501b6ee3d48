import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import type { Run } from "@/api/runs/types";
import { serverNow } from "@/api/server-clock";
import { shortCommit } from "@/lib/run-text";
import { formatDuration, formatInstant } from "@/lib/time/time";
import { useNow } from "@/lib/time/use-now";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { Fact, Facts } from "@/ui/text/facts";
import { Badge } from "@/ui/text/tag";
import { Dim } from "@/ui/text/text";
import { ago, RunTags } from "../list/run-cells";
import { factDraft, OTHER_FACTS } from "../model/facts";
import classes from "./run-header.module.css";

/** What was run, when, by whom, on which code. */
export function RunFacts({ run }: { run: Run }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const { zone } = useView();
  const now = useNow(serverNow, 10_000);
  const target = run.target_rate ?? null;
  const asked = run.target_duration_seconds ?? null;
  const length = (run.ended_ms ?? now) - run.started_ms;
  const links = run.links ?? [];
  return (
    <Facts>
      {run.scenario !== "" && (
        <Fact name={t("runs.fact_scenario")}>
          <Link to={`/runs?scenario=${encodeURIComponent(run.scenario)}`}>{run.scenario}</Link> {run.scenario_version}
        </Fact>
      )}
      {run.tool !== "" && <Fact name={t("runs.fact_tool")}>{run.tool}</Fact>}
      <Fact name={t("runs.column_started")}>
        {formatInstant(Math.floor(run.started_ms / 1000) * 1000, zone, locale)}{" "}
        <Dim>({ago(now - run.started_ms, t, locale)})</Dim>
      </Fact>
      <Fact name={t("runs.page.duration")}>
        {formatDuration(length, locale)}
        {asked !== null && Math.abs(asked * 1000 - length) > 1500 && run.state !== "imported" && (
          <Dim> {t("runs.ofTarget", { target: formatDuration(asked * 1000, locale) })}</Dim>
        )}
      </Fact>
      {target !== null && <Fact name={t("runs.page.target")}>{formatValue(target, "per_second", locale)}</Fact>}
      {run.commit !== "" && (
        <Fact name={t("runs.fact_commit")}>
          <code title={run.commit}>{shortCommit(run.commit)}</code>
          {run.branch !== "" && <Dim> {run.branch}</Dim>}
          {run.dirty === true && (
            <>
              {" "}
              <Badge warns title={t("runs.dirtyHint")}>
                {t("runs.dirty")}
              </Badge>
            </>
          )}
        </Fact>
      )}
      {(run.author !== "" || run.host !== "") && (
        <Fact name={t("runs.page.by")}>{[run.author, run.host].filter(Boolean).join(" @ ")}</Fact>
      )}
      {links.length > 0 && (
        <Fact name={t("runs.fact_links")}>
          {links.map(({ url, title }) => (
            <a key={url} className={classes.link} href={url} target="_blank" rel="noreferrer">
              {title || url.replace(/^https?:\/\//, "")}
            </a>
          ))}
        </Fact>
      )}
      {(run.tags ?? []).length > 0 && (
        <Fact name={t("runs.fact_tags")}>
          <RunTags tags={run.tags ?? []} />
        </Fact>
      )}
      {OTHER_FACTS.map((fact) => {
        const text = [factDraft(fact, run)].flat().join(", ");
        if (text === "") return null;
        return (
          <Fact key={fact.name} name={t(`runs.fact_${fact.name}`)}>
            {text}
          </Fact>
        );
      })}
    </Facts>
  );
}
