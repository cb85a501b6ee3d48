import { Button } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import type { CompareGroup, Comparison } from "@/api/compare/types";
import type { RunLine } from "@/api/runs/types";
import { SeriesMarker } from "@/charts/legend/legend";
import { runTitle, shortCommit } from "@/lib/run-text";
import { formatInstant } from "@/lib/time/time";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { RunMark } from "@/panels/run/run-mark";
import { IconButton } from "@/ui/icon-button";
import { Badge } from "@/ui/text/tag";
import classes from "../compare.module.css";
import { wholeSecond } from "../model/run-links";
import { type CompareState, LEAST_RUNS, withBase } from "../model/state";
import { countOpinions } from "../model/table";
import { OpinionMark } from "../opinion-mark";

const TOLD = ["better", "worse", "unclear"] as const;

interface Props {
  readonly data: Comparison;
  readonly slots: ReadonlyMap<string, number>;
  readonly state: CompareState;
  readonly onChange: (change: Partial<CompareState>) => void;
}

/** The groups that are compared: what they are, how each does against the base, and what can be changed about them. */
export function GroupCards(props: Props) {
  const { t } = useTranslation();
  return (
    <ul className={classes.groups} aria-label={t("compare.groups")}>
      {props.data.groups.map((group, place) => (
        <li key={group.id} className={classes.group} data-base={group.is_base}>
          <GroupCard {...props} group={group} place={place} />
        </li>
      ))}
    </ul>
  );
}

function GroupCard({ data, slots, state, onChange, group, place }: Props & { group: CompareGroup; place: number }) {
  const { t } = useTranslation();
  const first = data.runs.find(({ id }) => id === group.id);
  const counts = countOpinions(data.rows, place);
  const facts = [
    first && runTitle(first) !== group.label ? runTitle(first) : "",
    first?.branch ?? "",
    first?.commit && !group.label.includes(shortCommit(first.commit)) ? shortCommit(first.commit) : "",
  ].filter(Boolean);
  return (
    <>
      <div className={classes.groupHead}>
        <SeriesMarker series={{ id: group.id, name: group.label, values: [] }} slot={slots.get(group.id) ?? place} />
        <strong className={classes.groupName}>{group.label}</strong>
        {group.is_base ? (
          <Badge>{t("compare.base")}</Badge>
        ) : (
          <Button
            size="compact-xs"
            variant="default"
            aria-label={t("compare.makeBaseOf", { group: group.label })}
            onClick={() => onChange({ runs: withBase(state.runs, group.runs) })}
          >
            {t("compare.makeBase")}
          </Button>
        )}
      </div>
      <p className={classes.facts}>
        {facts.join(" · ")}
        {first?.dirty === true && <Badge>{t("compare.dirty")}</Badge>}
      </p>
      {!group.is_base && (
        <p className={classes.counts}>
          {TOLD.filter((opinion) => counts[opinion] > 0).map((opinion) => (
            <OpinionMark
              key={opinion}
              opinion={opinion}
              label={t(`compare.count_${opinion}`, { count: counts[opinion] })}
            />
          ))}
          {TOLD.every((opinion) => counts[opinion] === 0) && (
            <OpinionMark opinion="same" label={t("compare.count_same")} />
          )}
        </p>
      )}
      <ul className={classes.runs} aria-label={t("compare.runsOf", { group: group.label })}>
        {group.runs.map((run) => (
          <RunItem
            key={run}
            id={run}
            slot={slots.get(run) ?? 0}
            line={data.runs.find(({ id }) => id === run)}
            state={state}
            onChange={onChange}
          />
        ))}
      </ul>
    </>
  );
}

interface RunItemProps {
  readonly id: string;
  readonly slot: number;
  readonly line: RunLine | undefined;
  readonly state: CompareState;
  readonly onChange: (change: Partial<CompareState>) => void;
}

function RunItem({ id, slot, line, state, onChange }: RunItemProps) {
  const { t } = useTranslation();
  const locale = useLocale();
  const { zone } = useView();
  const hidden = state.hidden.includes(id);
  const when = line === undefined ? id : formatInstant(wholeSecond(line.started_ms), zone, locale);
  return (
    <li className={classes.run}>
      <button
        type="button"
        className={classes.eye}
        aria-pressed={!hidden}
        title={hidden ? t("compare.show") : t("compare.hide")}
        aria-label={t("compare.drawn", { run: when })}
        onClick={() => onChange({ hidden: hidden ? state.hidden.filter((run) => run !== id) : [...state.hidden, id] })}
      >
        <SeriesMarker series={{ id, name: when, values: [] }} slot={slot} />
      </button>
      <Link to={`/runs/${id}`} className={classes.runLink} title={id}>
        {when}
      </Link>
      {line !== undefined && <RunMark {...line} />}
      <IconButton
        icon="close"
        size={24}
        label={t("compare.remove", { run: when })}
        disabled={state.runs.length <= LEAST_RUNS}
        onClick={() => onChange({ runs: state.runs.filter((run) => run !== id) })}
      />
    </li>
  );
}
