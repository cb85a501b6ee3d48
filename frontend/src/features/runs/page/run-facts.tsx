import type { ReactNode } from "react";
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
import { Badge } from "@/ui/text/tag";
import { Dim } from "@/ui/text/text";
import { ago, RunTags } from "../list/run-cells";
import { factDraft, OTHER_FACTS } from "../model/facts";
import classes from "./run-header.module.css";

/** All of them stand with the details. */
const MOST_PARAMETERS = 4;

/** What was run, when, by whom, on which code: in a line. What says itself what it is has its name for screen readers alone. */
export function RunFacts({ run }: { run: Run }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const { zone } = useView();
  const now = useNow(serverNow, 10_000);
  const target = run.target_rate ?? null;
  const asked = run.target_duration_seconds ?? null;
  const length = (run.ended_ms ?? now) - run.started_ms;
  const links = run.links ?? [];
  const parameters = Object.entries(run.parameters ?? {}).slice(0, MOST_PARAMETERS);
  return (
    <dl className={classes.line}>
      {run.scenario !== "" && (
        <Item name={t("runs.fact_scenario")}>
          <Link to={`/runs?scenario=${encodeURIComponent(run.scenario)}`}>{run.scenario}</Link> {run.scenario_version}
        </Item>
      )}
      {run.tool !== "" && <Item name={t("runs.fact_tool")}>{run.tool}</Item>}
      <Item name={t("runs.column_started")}>
        {formatInstant(Math.floor(run.started_ms / 1000) * 1000, zone, locale)}{" "}
        <Dim>({ago(now - run.started_ms, t, locale)})</Dim>
      </Item>
      <Item name={t("runs.page.duration")} said>
        {formatDuration(length, locale)}
        {asked !== null && Math.abs(asked * 1000 - length) > 1500 && run.state !== "imported" && (
          <Dim> {t("runs.ofTarget", { target: formatDuration(asked * 1000, locale) })}</Dim>
        )}
      </Item>
      {target !== null && (
        <Item name={t("runs.page.target")} said>
          {formatValue(target, "per_second", locale)}
        </Item>
      )}
      {parameters.map(([key, value]) => (
        <Item key={key} name={t("runs.page.parameter")}>
          {key}={value}
        </Item>
      ))}
      {run.commit !== "" && (
        <Item name={t("runs.fact_commit")} said>
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
        </Item>
      )}
      {(run.author !== "" || run.host !== "") && (
        <Item name={t("runs.page.by")} said>
          {[run.author, run.host].filter(Boolean).join(" @ ")}
        </Item>
      )}
      {links.length > 0 && (
        <Item name={t("runs.fact_links")} said>
          {links.map(({ url, title }) => (
            <a key={url} className={classes.link} href={url} target="_blank" rel="noreferrer">
              {title || url.replace(/^https?:\/\//, "")}
            </a>
          ))}
        </Item>
      )}
      {(run.tags ?? []).length > 0 && (
        <Item name={t("runs.fact_tags")} said>
          <RunTags tags={run.tags ?? []} />
        </Item>
      )}
      {OTHER_FACTS.map((fact) => {
        const text = [factDraft(fact, run)].flat().join(", ");
        if (text === "") return null;
        return (
          <Item key={fact.name} name={t(`runs.fact_${fact.name}`)} said>
            {text}
          </Item>
        );
      })}
    </dl>
  );
}

/** `said`: the value alone would not tell what it is. */
function Item({ name, said = false, children }: { name: string; said?: boolean; children: ReactNode }) {
  return (
    <div>
      <dt className={said ? undefined : "lw-visually-hidden"}>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
