import { NativeSelect } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { poolAdviceQuery } from "@/api/pools/queries";
import type { PoolAdvice, PoolGroup, PoolNote, PoolSetting } from "@/api/pools/types";
import { formatClock, formatDay, formatDuration } from "@/lib/time/time";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { useWords } from "@/panels/findings/words";
import { CommandLine } from "@/ui/command-line";
import { QueryFault } from "@/ui/fault/query-fault";
import { Table } from "@/ui/list/table";
import { Loading } from "@/ui/loading";
import { Section } from "@/ui/page/section";
import { StateMark, type Tone } from "@/ui/state-mark";
import { Disclosure } from "@/ui/text/disclosure";
import { Fact, Facts } from "@/ui/text/facts";
import { Dim, Hint } from "@/ui/text/text";
import classes from "./pools-section.module.css";

const REFRESH_MS = 60_000;
const TONES: Readonly<Record<PoolNote["weight"], Tone>> = { wrong: "bad", unknown: "unknown", info: "ok" };

/** What each connection pool should be set to and by which formula; of a run, or of the last quarter of an hour. */
export function PoolsSection({ run = null }: { run?: string | null }) {
  const { t } = useTranslation();
  const [server, setServer] = useState("");
  const advice = useQuery({ ...poolAdviceQuery(run, server), ...(run === null && { refetchInterval: REFRESH_MS }) });
  const { data } = advice;
  return (
    <Section id="pools" title={t("pools.title")} aside={data && <Window advice={data} />}>
      <QueryFault title={t("pools.failed")} query={advice} />
      {advice.isPending && <Loading height={120} label={t("pools.loading")} />}
      {data && data.servers.length > 1 && (
        <NativeSelect
          size="sm"
          maw="20rem"
          mb="xs"
          label={t("pools.which")}
          value={server}
          data={[{ value: "", label: t("pools.choose") }, ...data.servers]}
          onChange={(event) => setServer(event.currentTarget.value)}
        />
      )}
      {data && (data.groups.length > 0 ? <Advice advice={data} /> : <NoPools advice={data} />)}
    </Section>
  );
}

function Window({ advice }: { advice: PoolAdvice }) {
  const { t } = useTranslation();
  const { zone } = useView();
  const locale = useLocale();
  const at = (ms: number) => `${formatDay(ms, zone, locale)} ${formatClock(ms, zone, "second")}`;
  return t("pools.window", { from: at(advice.from_ms), to: at(advice.to_ms) });
}

function NoPools({ advice }: { advice: PoolAdvice }) {
  const words = useWords();
  const note = advice.notes.find(({ id }) => id === "no-pool");
  return note === undefined ? null : (
    <>
      <Hint>{words(note.text)}</Hint>
      <CommandLine text={note.config} />
    </>
  );
}

function Advice({ advice }: { advice: PoolAdvice }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const { server, groups } = advice;
  const count = (value: number) => formatValue(Math.round(value), "count", locale);
  return (
    <>
      <Notes advice={advice} />
      {server !== null && (
        <Facts>
          <Fact name={t("pools.limit", { instance: server.instance })}>{count(server.max_connections)}</Fact>
          <Fact name={t("pools.others")}>{server.others === null ? "–" : count(server.others)}</Fact>
          <Fact name={t("pools.reserve")}>{count(advice.reserve)}</Fact>
          {advice.room !== null && <Fact name={t("pools.room")}>{count(advice.room)}</Fact>}
        </Facts>
      )}
      <PoolTable groups={groups} />
      {groups.map((group) => (
        <Disclosure key={nameOf(group)} summary={t("pools.formulas", { pool: nameOf(group) })}>
          {group.code !== "" && <CommandLine text={group.code} />}
          {group.settings.map((setting) => (
            <Formula key={setting.name} setting={setting} />
          ))}
        </Disclosure>
      ))}
    </>
  );
}

/** What is to be changed, what cannot be told, and what is worth knowing. */
function Notes({ advice }: { advice: PoolAdvice }) {
  const { t } = useTranslation();
  const words = useWords();
  const notes = [
    ...advice.notes.map((note) => ({ note, of: "" })),
    ...advice.groups.flatMap((group) => group.notes.map((note) => ({ note, of: nameOf(group) }))),
  ];
  return (
    <ul className={classes.notes}>
      {notes.map(({ note, of }) => (
        <li key={`${of} ${note.id}`}>
          <StateMark tone={TONES[note.weight]} label={t(`pools.weight_${note.weight}`)} />{" "}
          {of !== "" && <Dim>{of}</Dim>}
          <p>{words(note.text)}</p>
          {note.config !== "" && <CommandLine text={note.config} />}
        </li>
      ))}
    </ul>
  );
}

const SETTINGS = ["max_open", "max_idle", "lifetime", "idle_time"] as const;

function PoolTable({ groups }: { groups: readonly PoolGroup[] }) {
  const { t } = useTranslation();
  const locale = useLocale();
  return (
    <Table bare label={t("pools.title")}>
      <thead>
        <tr>
          <th scope="col">{t("pools.pool")}</th>
          <th scope="col" data-number="true">
            {t("pools.instances")}
          </th>
          {SETTINGS.map((name) => (
            <th key={name} scope="col">
              {t(`pools.setting_${name}`)}
            </th>
          ))}
          <th scope="col" data-number="true">
            {t("pools.waits")}
          </th>
          <th scope="col" data-number="true">
            {t("pools.wait")}
          </th>
        </tr>
      </thead>
      <tbody>
        {groups.map((group) => {
          const waits = group.members.reduce((sum, member) => sum + member.waits, 0);
          const waited = group.members.reduce((sum, member) => sum + member.wait_seconds, 0);
          return (
            <tr key={nameOf(group)}>
              <th scope="row">{nameOf(group)}</th>
              <td data-number="true">{formatValue(group.seen, "count", locale)}</td>
              {SETTINGS.map((name) => (
                <td key={name}>
                  <Advised setting={group.settings.find((one) => one.name === name)} />
                </td>
              ))}
              <td data-number="true">{formatValue(Math.round(waits), "count", locale)}</td>
              <td data-number="true">{waits > 0 ? formatValue(waited / waits, "seconds", locale) : "–"}</td>
            </tr>
          );
        })}
      </tbody>
    </Table>
  );
}

/** The value to set, and what it is now; where all instances have it, that it is right. */
function Advised({ setting }: { setting: PoolSetting | undefined }) {
  const { t } = useTranslation();
  const locale = useLocale();
  if (setting === undefined) return "–";
  const { name, now, advised } = setting;
  const text = (value: number) => {
    if (name === "lifetime" || name === "idle_time")
      return value === 0 ? t("pools.forever") : formatDuration(value * 1000, locale);
    return name === "max_open" && value === 0 ? t("pools.unlimited") : formatValue(value, "count", locale);
  };
  const today = now.length === 0 ? t("pools.unknown") : now.map(text).join(", ");
  return (
    <>
      <strong>{advised === null ? t("pools.none") : text(advised)}</strong>{" "}
      <Dim>{now.length === 1 && now[0] === advised ? t("pools.right") : t("pools.now", { now: today })}</Dim>
    </>
  );
}

function Formula({ setting: { name, formula, source } }: { setting: PoolSetting }) {
  const { t } = useTranslation();
  const words = useWords();
  const short = t("pools.source", { source: source.replace("https://", "") });
  return (
    <Hint>
      <code>{t(`pools.setting_${name}`)}</code>: {words(formula)}{" "}
      {source.startsWith("https://") ? (
        <a href={source} target="_blank" rel="noreferrer">
          {short}
        </a>
      ) : (
        short
      )}
    </Hint>
  );
}

function nameOf(group: PoolGroup): string {
  return `${group.job} / ${group.pool}`;
}
