import { Checkbox } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { Link, useNavigate } from "react-router";
import type { RunLine, RunSort } from "@/api/runs/types";
import { runTitle } from "@/lib/run-text";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { SortHead, sortOrder, Table } from "@/ui/list/table";
import { MOST_COMPARED, type RunListState } from "../model/list-state";
import { Commit, Flags, Load, Rate, RunTags, Started, Success } from "./run-cells";
import { RunMark } from "./run-mark";
import classes from "./runs-page.module.css";

export interface RowsProps {
  readonly runs: readonly RunLine[];
  readonly now: number;
  readonly selected: readonly string[];
  readonly onSelect: (id: string) => void;
  readonly pathOf: (id: string) => string;
}

interface Props extends RowsProps {
  readonly state: RunListState;
  readonly onSort: (sort: RunSort) => void;
}

interface Column {
  readonly id: "verdict" | "name" | "scenario" | "started" | "rate" | "success" | "p95" | "load" | "commit" | "tags";
  readonly sort?: RunSort;
  readonly number?: boolean;
}

const COLUMNS: readonly Column[] = [
  { id: "verdict", sort: "verdict" },
  { id: "name", sort: "name" },
  { id: "scenario", sort: "scenario" },
  { id: "started", sort: "started" },
  { id: "rate", sort: "rate", number: true },
  { id: "success", sort: "success_ratio", number: true },
  { id: "p95", sort: "p95", number: true },
  { id: "load" },
  { id: "commit" },
  { id: "tags" },
];

export function RunsTable(props: Props) {
  const { t } = useTranslation();
  return (
    <Table label={t("runs.title")} className={classes.table}>
      <thead>
        <tr>
          <th scope="col">
            <span className="lw-visually-hidden">{t("runs.select")}</span>
          </th>
          {COLUMNS.map((column) => (
            <Head key={column.id} column={column} state={props.state} onSort={props.onSort} />
          ))}
        </tr>
      </thead>
      <tbody>
        {props.runs.map((run) => (
          <Row key={run.id} {...props} run={run} />
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

function Row({ run, now, selected, onSelect, pathOf }: RowsProps & { run: RunLine }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const navigate = useNavigate();
  const title = runTitle(run);
  const chosen = selected.includes(run.id);
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
      <td>
        <RunMark state={run.state} silent={run.silent} verdict={run.verdict} />
      </td>
      <td className={classes.nameCell}>
        <Link className={classes.name} to={pathOf(run.id)} data-list-link="">
          {title}
        </Link>
        <span className={classes.sub}>
          {run.id} <Flags run={run} />
        </span>
      </td>
      <td>
        <span className={classes.main}>{run.scenario || "–"}</span>
        <span className={classes.sub}>{[run.scenario_version, run.tool].filter(Boolean).join(" · ")}</span>
      </td>
      <td>
        <Started run={run} now={now} />
      </td>
      <td data-number>
        <Rate run={run} />
      </td>
      <td data-number>
        <Success run={run} />
      </td>
      <td data-number>
        <span className={classes.main}>{formatValue(run.p95_seconds, "seconds", locale)}</span>
      </td>
      <td>
        <Load run={run} />
      </td>
      <td>
        <Commit run={run} />
      </td>
      <td>
        {run.author !== "" && <span className={classes.main}>{run.author}</span>}
        <RunTags tags={run.tags} />
      </td>
    </tr>
  );
}
