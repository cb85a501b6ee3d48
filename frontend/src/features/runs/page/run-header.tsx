import { ActionIcon, TextInput } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Link, useSearchParams } from "react-router";
import type { Run } from "@/api/runs/types";
import { formatSkew, runTitle, shellCommand, shortCommit } from "@/lib/run-text";
import { formatDuration, formatInstant } from "@/lib/time/time";
import { formatValue } from "@/lib/units";
import { useCodeText } from "@/lib/use-code-text";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { RunMark } from "@/panels/run/run-mark";
import { CommandLine } from "@/ui/command-line";
import { Icon } from "@/ui/icon";
import { IconButton } from "@/ui/icon-button";
import { Notice } from "@/ui/page/notice";
import { Fact, Facts } from "@/ui/text/facts";
import { Dim } from "@/ui/text/text";
import { useRunUpdate } from "../model/use-run-update";
import { RunActions } from "./run-actions";
import { RunFacts } from "./run-facts";
import classes from "./run-header.module.css";

/** Clocks that differ by less cannot shift a chart by a visible amount. */
const SKEW_SECONDS = 0.5;

export function RunHeader({ run }: { run: Run }) {
  const { t } = useTranslation();
  return (
    <div className={classes.header}>
      <div className={classes.top}>
        <div className={classes.identity}>
          <BackLink />
          <RunName run={run} />
          <div className={classes.marks}>
            <span className={classes.verdict}>
              <RunMark state={run.state} silent={run.silent} verdict={run.verdict} />
            </span>
            {run.verdict !== null && run.state !== "running" && <Dim>{t(`runs.state_${run.state}`)}</Dim>}
            {run.is_baseline && (
              <span className={classes.flag} title={t("runs.baselineHint")}>
                <Icon name="pin" size={12} />
                {t("runs.baseline")}
              </span>
            )}
          </div>
        </div>
        <RunActions run={run} />
      </div>
      <VerdictReasons run={run} />
      <RunFacts run={run} />
      <ClockWarning run={run} />
      <details className={classes.details}>
        <summary>
          <Icon name="chevronRight" size={12} />
          {t("runs.page.details")}
        </summary>
        <Details run={run} />
      </details>
    </div>
  );
}

function BackLink() {
  const { t } = useTranslation();
  const [params] = useSearchParams();
  const zone = params.get("tz");
  return (
    <Link
      className={classes.back}
      to={zone === null ? "/runs" : `/runs?tz=${zone}`}
      aria-label={t("runs.page.toList")}
      title={t("runs.page.toList")}
    >
      <Icon name="chevronLeft" />
    </Link>
  );
}

function RunName({ run }: { run: Run }) {
  const { t } = useTranslation();
  const { patch } = useRunUpdate(run.id);
  const [text, setText] = useState<string | null>(null);
  if (text === null) {
    return (
      <>
        <h1 className={classes.name}>{runTitle(run)}</h1>
        <IconButton icon="edit" label={t("runs.page.rename")} onClick={() => setText(run.name)} />
      </>
    );
  }
  const save = () => {
    const name = text.trim();
    if (name === run.name) setText(null);
    else patch.mutate({ name }, { onSuccess: () => setText(null) });
  };
  return (
    <form
      className={classes.rename}
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <TextInput
        aria-label={t("runs.fact_name")}
        size="sm"
        autoFocus
        maxLength={200}
        value={text}
        placeholder={runTitle({ ...run, name: "" })}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") setText(null);
        }}
      />
      <ActionIcon type="submit" size={30} aria-label={t("action.save")} loading={patch.isPending}>
        <Icon name="check" />
      </ActionIcon>
      <IconButton icon="close" size={30} label={t("action.cancel")} onClick={() => setText(null)} />
    </form>
  );
}

/** Why the verdict is what it is; a run that passed needs no words. */
function VerdictReasons({ run }: { run: Run }) {
  const { t } = useTranslation();
  const codeText = useCodeText();
  const reasons = run.verdict === "passed" ? [] : run.verdict_reasons;
  const aborted = run.state === "aborted" && run.abort_reason !== "";
  if (reasons.length === 0 && !aborted) return null;
  return (
    <ul className={classes.reasons} aria-label={t("runs.page.reasons")}>
      {reasons.map((reason) => (
        <li key={reason}>{codeText(`runs.page.reason_${reason}`, reason)}</li>
      ))}
      {aborted && <li>{t("runs.page.abortedBecause", { reason: run.abort_reason })}</li>}
    </ul>
  );
}

function ClockWarning({ run }: { run: Run }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const skew = run.clock.skew_seconds;
  if (run.clock.jumped) return <Notice role="note">{t("runs.page.clockJumped")}</Notice>;
  if (skew === null || Math.abs(skew) < SKEW_SECONDS) return null;
  const values = { time: formatSkew(skew, locale) };
  return (
    <Notice role="note">{skew > 0 ? t("runs.page.clockAhead", values) : t("runs.page.clockBehind", values)}</Notice>
  );
}

function Details({ run }: { run: Run }) {
  const { t } = useTranslation();
  const { zone } = useView();
  const locale = useLocale();
  const parameters = Object.entries(run.parameters ?? {});
  const skew = (seconds: number | null) =>
    seconds === null ? t("runs.page.clockUnknown") : `${seconds >= 0 ? "+" : "−"}${formatSkew(seconds, locale)}`;
  return (
    <>
      <Facts>
        <Fact name={t("runs.page.id")}>
          <code>{run.id}</code>
        </Fact>
        <Fact name={t("runs.page.started")}>{formatInstant(run.started_ms, zone, locale)}</Fact>
        {run.ended_ms !== null && <Fact name={t("runs.page.ended")}>{formatInstant(run.ended_ms, zone, locale)}</Fact>}
        <Fact name={t("runs.page.clockStart")}>{skew(run.clock.skew_seconds)}</Fact>
        {run.clock.skew_end_seconds !== null && (
          <Fact name={t("runs.page.clockEnd")}>{skew(run.clock.skew_end_seconds)}</Fact>
        )}
        {run.exit_code !== null && <Fact name={t("runs.page.exitCode")}>{run.exit_code}</Fact>}
        {run.commit !== "" && (
          <Fact name={t("runs.fact_commit")}>
            <code>{run.commit}</code>
          </Fact>
        )}
        {run.source !== null && (
          <Fact name={t("runs.page.source")}>
            {run.source.filename} ({run.source.format}, {formatValue(run.source.bytes, "bytes", locale)}),{" "}
            {t("runs.page.readIn", { time: formatDuration(run.source.seconds * 1000, locale) })}
          </Fact>
        )}
        {run.source !== null && (
          <Fact name="SHA-256">
            <code title={run.source.sha256}>{shortCommit(run.source.sha256)}…</code>
          </Fact>
        )}
        {parameters.map(([key, value]) => (
          <Fact key={key} name={key}>
            {value}
          </Fact>
        ))}
      </Facts>
      {(run.command ?? []).length > 0 && <CommandLine text={shellCommand(run.command ?? [])} />}
    </>
  );
}
