import { Checkbox } from "@mantine/core";
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { Link, useNavigate } from "react-router";
import type { RunLine, RunSort } from "@/api/runs/types";
import { runTitle } from "@/lib/run-text";
import { RunMark } from "@/panels/run/run-mark";
import type { HoldHandlers } from "@/ui/list/held-order";
import { SortHead, sortOrder, Table } from "@/ui/list/table";
import { type Column, type ColumnId, type Shown, shownColumns } from "./columns";
import { MOST_COMPARED, type RunListState } from "./list-state";
import { Commit, FirstLimit, Flags, Load, P95, Parameters, Rate, RunTags, Started, Success } from "./run-cells";
import classes from "./runs-page.module.css";

export interface RowsProps {
  readonly runs: readonly RunLine[];
  readonly hold: HoldHandlers;
  readonly now: number;
  readonly selected: readonly string[];
  readonly onSelect: (id: string) => void;
  readonly pathOf: (id: string) => string;
}

interface Props extends RowsProps {
  readonly state: RunListState;
  readonly onSort: (sort: RunSort) => void;
}

export function RunsTable({ runs, hold, ...props }: Props) {
  const { t } = useTranslation();
  const shown = useMemo(() => shownColumns(props.state.columns), [props.state.columns]);
  return (
    <Table label={t("runs.title")} className={classes.table}>
      <thead>
        <tr>
          <th scope="col">
            <span className="lw-visually-hidden">{t("runs.select")}</span>
          </th>
          {shown.map((one) =>
            "column" in one ? (
              <Head key={one.column.id} column={one.column} state={props.state} onSort={props.onSort} />
            ) : (
              <th key={`=${one.parameter}`} scope="col">
                {one.parameter}
              </th>
            ),
          )}
        </tr>
      </thead>
      <tbody {...hold}>
        {runs.map((run) => (
          <Row key={run.id} {...props} run={run} shown={shown} />
        ))}
      </tbody>
    </Table>
  );
}

function Head({ column, state, onSort }: { column: Column } & Pick<Props, "state" | "onSort">) {
  const { t } = useTranslation();
  const { id, sort, number = false } = column;
  const name = t(`runs.column_${id}`);
  if (sort === undefined) return <th scope="col">{name}</th>;
  return (
    <SortHead order={sortOrder(state.sort === sort, state.descending)} number={number} onSort={() => onSort(sort)}>
      {name}
    </SortHead>
  );
}

function Row({
  run,
  now,
  selected,
  onSelect,
  pathOf,
  shown,
}: Omit<RowsProps, "runs" | "hold"> & { run: RunLine; shown: readonly Shown[] }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const title = runTitle(run);
  const chosen = selected.includes(run.id);
  const apart = shown.some((one) => "column" in one && one.column.id === "scenario");
  return (
    // The link in the row is the keyboard's way; the row is a larger target for the mouse.
    <tr
      data-list-item={run.id}
      data-chosen={chosen}
      onClick={(event) => {
        const target = event.target as Element;
        if (target.closest("a, button, input, label") !== null || (getSelection()?.toString() ?? "") !== "") return;
        void navigate(pathOf(run.id));
      }}
    >
      <td className={classes.pick}>
        <Checkbox
          size="xs"
          aria-label={t("runs.selectRun", { run: title })}
          checked={chosen}
          disabled={!chosen && selected.length >= MOST_COMPARED}
          onChange={() => onSelect(run.id)}
        />
      </td>
      {shown.map((one) =>
        "column" in one ? (
          <td
            key={one.column.id}
            data-number={one.column.number || undefined}
            className={one.column.id === "name" ? classes.nameCell : undefined}
          >
            <RunCell id={one.column.id} run={run} now={now} path={pathOf(run.id)} apart={apart} />
          </td>
        ) : (
          <td key={`=${one.parameter}`}>
            <span className={classes.main}>{run.parameters[one.parameter] ?? "–"}</span>
          </td>
        ),
      )}
    </tr>
  );
}

interface CellProps {
  readonly id: ColumnId;
  readonly run: RunLine;
  readonly now: number;
  readonly path: string;
  /** Whether the scenario has a column of its own. */
  readonly apart: boolean;
}

function RunCell({ id, run, now, path, apart }: CellProps) {
  if (id === "verdict") return <RunMark state={run.state} silent={run.silent} verdict={run.verdict} />;
  if (id === "name") return <NameCell run={run} path={path} apart={apart} />;
  if (id === "scenario") return <Scenario run={run} />;
  if (id === "limit") return <FirstLimit run={run} />;
  if (id === "parameters") return <Parameters run={run} />;
  if (id === "started") return <Started run={run} now={now} />;
  if (id === "rate") return <Rate run={run} />;
  if (id === "success") return <Success run={run} />;
  if (id === "p95") return <P95 run={run} />;
  if (id === "load") return <Load run={run} />;
  if (id === "commit") return <Commit run={run} />;
  return (
    <>
      {run.author !== "" && <span className={classes.main}>{run.author}</span>}
      <RunTags tags={run.tags} />
    </>
  );
}

function NameCell({ run, path, apart }: Pick<CellProps, "run" | "path" | "apart">) {
  return (
    <>
      <Link className={classes.name} to={path} title={run.id} data-list-link="">
        {runTitle(run)}
      </Link>
      <span className={classes.sub}>
        {apart ? run.id : [run.scenario || run.id, run.scenario_version, run.tool].filter(Boolean).join(" · ")}{" "}
        <Flags run={run} />
      </span>
    </>
  );
}

function Scenario({ run }: { run: RunLine }) {
  return (
    <>
      <span className={classes.main}>{run.scenario || "–"}</span>
      <span className={classes.sub}>{[run.scenario_version, run.tool].filter(Boolean).join(" · ")}</span>
    </>
  );
}
