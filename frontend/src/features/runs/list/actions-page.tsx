import { Checkbox } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { openActionsQuery } from "@/api/runs/queries";
import type { ActionLine } from "@/api/runs/types";
import { ActionFacts } from "@/panels/actions/action-facts";
import { ScoreList } from "@/panels/actions/score-list";
import { QueryFault } from "@/ui/fault/query-fault";
import { Card, Cards } from "@/ui/list/card";
import { Loading } from "@/ui/loading";
import { notifyProblem } from "@/ui/notify";
import { PageHead } from "@/ui/page/page-head";
import { PageMessage } from "@/ui/page-message";
import { Dim, Hint } from "@/ui/text/text";
import { setActionState } from "../review/actions/set-action-state";
import classes from "./actions-page.module.css";

/** What the team decided to do and has not done, over all runs: what is due first. */
export function ActionsPage() {
  const { t } = useTranslation();
  const query = useQuery({ ...openActionsQuery, refetchInterval: 30_000 });
  const { data } = query;
  const ticked = useTicked();
  const open = data?.actions ?? [];
  const held = (action: ActionLine) => ticked.lines.find((one) => keyOf(one.action) === keyOf(action))?.action;
  const shown = open.map((action) => held(action) ?? action);
  // What was ticked here stays where it stood, to be seen and taken back, until the page is left.
  for (const { action, place } of ticked.lines) {
    if (!open.some((other) => keyOf(other) === keyOf(action))) shown.splice(place, 0, action);
  }
  const more = data === undefined ? 0 : data.total - data.actions.length;
  return (
    <>
      <PageHead title={t("actions.open")} aside={data && t("runs.total", { total: data.total })} />
      <QueryFault title={t("actions.openFailed")} query={query} />
      {query.isPending && <Loading height={320} />}
      {data !== undefined && shown.length === 0 && (
        <PageMessage icon="check" title={t("actions.openNone")}>
          <p>{t("actions.openNoneHint")}</p>
        </PageMessage>
      )}
      {shown.length > 0 && (
        <Cards aria-label={t("actions.open")}>
          {shown.map((action, place) => (
            <OpenAction key={keyOf(action)} action={action} onTick={(done) => ticked.tick(action, place, done)} />
          ))}
        </Cards>
      )}
      {more > 0 && <Hint>{t("actions.openMore", { count: more })}</Hint>}
    </>
  );
}

const keyOf = ({ run, id }: ActionLine) => `${run} ${id}`;

interface Ticked {
  readonly action: ActionLine;
  readonly place: number;
}

/** What was changed on this page, in the order of its places; shown at once, and taken back where it cannot be kept. */
function useTicked() {
  const { t } = useTranslation();
  const client = useQueryClient();
  const [lines, setLines] = useState<readonly Ticked[]>([]);
  // One after the other: what was said last holds.
  const saved = useRef<Promise<void>>(Promise.resolve());
  const show = (action: ActionLine, place: number, state: ActionLine["state"]) => {
    const line: Ticked = { action: { ...action, state }, place };
    const others = (held: readonly Ticked[]) => held.filter((one) => keyOf(one.action) !== keyOf(action));
    setLines((held) => [...others(held), line].toSorted((a, b) => a.place - b.place));
  };
  const save = async (action: ActionLine, place: number, state: ActionLine["state"]) => {
    try {
      if ((await setActionState(client, action.run, action.id, state)) === "set") return;
      notifyProblem(t("actions.tickFailed"), t("actions.tickGone"));
    } catch (error) {
      notifyProblem(t("actions.tickFailed"), error instanceof Error ? error.message : String(error));
    }
    show(action, place, action.state);
  };
  const tick = (action: ActionLine, place: number, done: boolean) => {
    const state = done ? "done" : "open";
    show(action, place, state);
    saved.current = saved.current.then(() => save(action, place, state));
  };
  return { lines, tick };
}

interface OpenActionProps {
  readonly action: ActionLine;
  readonly onTick: (done: boolean) => void;
}

function OpenAction({ action, onTick }: OpenActionProps) {
  const { t } = useTranslation();
  const done = action.state === "done";
  return (
    <Card>
      <Checkbox
        classNames={{ body: classes.tick ?? "", labelWrapper: classes.words ?? "", label: classes.label ?? "" }}
        label={action.text}
        title={t(done ? "actions.untick" : "actions.tick")}
        checked={done}
        onChange={(event) => onTick(event.currentTarget.checked)}
      />
      <ActionFacts action={action} />
      <p>
        <Link to={`/runs/${action.run}#review`}>{t("actions.earlierOf", { run: action.run_name || action.run })}</Link>
        {action.scenario !== "" && <Dim> {action.scenario}</Dim>}
      </p>
      {action.score === null && action.expected !== "" && <Dim>{t("actions.notScored")}</Dim>}
      <ScoreList scores={action.score === null ? [] : [action.score]} />
    </Card>
  );
}
