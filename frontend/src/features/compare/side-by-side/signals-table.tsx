import { Switch } from "@mantine/core";
import type { TFunction } from "i18next";
import { useTranslation } from "react-i18next";
import type { CompareCell, CompareGroup, CompareRow, Comparison } from "@/api/compare/types";
import { DeltaBar } from "@/charts/bars/delta-bar";
import { SeriesMarker } from "@/charts/legend/legend";
import { formatChange, formatMeasure } from "@/lib/run-text";
import { addedPercentiles } from "@/lib/series/percentiles";
import { useLocale } from "@/lib/use-locale";
import { Table } from "@/ui/list/table";
import { PercentileChooser } from "@/ui/percentile-chooser";
import { Badge } from "@/ui/text/tag";
import { Dim } from "@/ui/text/text";
import classes from "../compare.module.css";
import type { CompareState } from "../model/state";
import { commonRemark, rowReach, tableParts } from "../model/table";
import { OpinionMark } from "../opinion-mark";

interface Props {
  readonly data: Comparison;
  readonly slots: ReadonlyMap<string, number>;
  readonly state: CompareState;
  readonly onChange: (change: Partial<CompareState>) => void;
}

/** Every figure of every group against the base's, with how sure the difference is. */
export function SignalsTable({ data, slots, state, onChange }: Props) {
  const { t } = useTranslation();
  const parts = tableParts(data.rows, state.changedOnly);
  const remarks = data.groups.map((_, place) => commonRemark(data.rows, place));
  const shared = { groups: data.groups, remarks, detail: state.detail };
  return (
    <section aria-labelledby="compare-signals">
      <div className={classes.sectionHead}>
        <h2 id="compare-signals">{t("compare.signals")}</h2>
        <Dim>{t("compare.signalsHint")}</Dim>
        <PercentileChooser
          names={state.percentiles}
          onChange={(names) => onChange({ percentiles: addedPercentiles(names) })}
        />
        <Switch
          size="xs"
          label={t("compare.changedOnly")}
          checked={state.changedOnly}
          onChange={(event) => onChange({ changedOnly: event.currentTarget.checked })}
        />
        <Switch
          size="xs"
          label={t("compare.detail")}
          checked={state.detail}
          onChange={(event) => onChange({ detail: event.currentTarget.checked })}
        />
      </div>
      <Table
        label={t("compare.tableOf", { title: t("compare.signals") })}
        className={classes.table}
        data-pair={data.groups.length <= 2}
      >
        <thead>
          <tr>
            <th scope="col">{t("compare.metric")}</th>
            {data.groups.map((group, place) => (
              <GroupHead
                key={group.id}
                group={group}
                slot={slots.get(group.id) ?? place}
                remark={remarks[place] ?? ""}
              />
            ))}
          </tr>
        </thead>
        <TableBody title={t("compare.partLoad")} rows={parts.load} {...shared} />
        <TableBody title={t("compare.partSignals")} rows={parts.signals} {...shared} />
      </Table>
      {parts.unjudged.length > 0 && (
        <details className={classes.drift}>
          <summary>{t("compare.unjudged", { count: parts.unjudged.length })}</summary>
          <Table label={t("compare.unjudgedTable")} className={classes.table} data-pair={data.groups.length <= 2}>
            <TableBody title={t("compare.unjudgedTable")} rows={parts.unjudged} {...shared} />
          </Table>
        </details>
      )}
      {parts.equal > 0 && <p className={classes.foot}>{t("compare.equalHidden", { count: parts.equal })}</p>}
      {parts.unknown.length > 0 && (
        <details className={classes.foot}>
          <summary>{t("compare.unknown", { count: parts.unknown.length })}</summary>
          <p>{parts.unknown.join(" · ")}</p>
        </details>
      )}
    </section>
  );
}

export function GroupHead({ group, slot, remark = "" }: { group: CompareGroup; slot: number; remark?: string }) {
  const { t } = useTranslation();
  return (
    <th scope="col">
      <span className={classes.columnHead}>
        <SeriesMarker series={{ id: group.id, name: group.label, values: [] }} slot={slot} />
        <span className={classes.columnName} title={group.label}>
          {group.label}
        </span>
        {group.is_base && <Badge>{t("compare.base")}</Badge>}
        {group.runs.length > 1 && <Dim>{t("compare.repeats", { count: group.runs.length })}</Dim>}
      </span>
      {remark !== "" && <div className={classes.headRemark}>{remarkText(remark, t)}</div>}
    </th>
  );
}

interface BodyProps {
  readonly title: string;
  readonly rows: readonly CompareRow[];
  readonly groups: readonly CompareGroup[];
  /** By group, what its head says already. */
  readonly remarks: readonly string[];
  readonly detail: boolean;
}

function TableBody({ title, rows, groups, remarks, detail }: BodyProps) {
  const { t } = useTranslation();
  if (rows.length === 0) return null;
  return (
    <tbody>
      <tr className={classes.part}>
        <th scope="rowgroup" colSpan={groups.length + 1}>
          {title}
        </th>
      </tr>
      {rows.map((row) => (
        <tr key={row.metric.id}>
          <th
            scope="row"
            title={`${row.metric.help} ${t("compare.margin", { share: `±${Math.round(row.margin * 100)}%` })}`}
          >
            {row.metric.title}
          </th>
          {row.cells.map((cell, place) => (
            <Cell
              key={groups[place]?.id ?? place}
              cell={cell}
              row={row}
              isBase={groups[place]?.is_base === true}
              told={remarks[place] ?? ""}
              detail={detail}
            />
          ))}
        </tr>
      ))}
    </tbody>
  );
}

interface CellProps {
  readonly cell: CompareCell;
  readonly row: CompareRow;
  readonly isBase: boolean;
  readonly told: string;
  readonly detail: boolean;
}

function Cell({ cell, row, isBase, told, detail }: CellProps) {
  const { t } = useTranslation();
  const locale = useLocale();
  const { unit } = row.metric;
  const measure = (value: number | null) => formatMeasure(value, unit, locale);
  if (cell.value === null)
    return (
      <td>
        <Dim>{t("compare.remark_no-data")}</Dim>
      </td>
    );
  const wide = cell.low !== null && cell.high !== null && cell.low !== cell.high;
  return (
    <td>
      <div className={classes.cell}>
        <div className={classes.cellValue}>
          <strong>{measure(cell.value)}</strong>
          {wide && (
            <span className={classes.interval} title={t("compare.interval")}>
              {measure(cell.low)} – {measure(cell.high)}
            </span>
          )}
        </div>
        {!isBase && <CellDelta cell={cell} row={row} told={told} />}
      </div>
      {detail && <CellDetail cell={cell} isBase={isBase} measure={measure} />}
    </td>
  );
}

function CellDelta({ cell, row, told }: { cell: CompareCell; row: CompareRow; told: string }) {
  const { t } = useTranslation();
  const tone = cell.opinion === "better" ? "good" : cell.opinion === "worse" ? "bad" : "plain";
  const { delta, delta_low: low, delta_high: high } = cell;
  return (
    <div className={classes.cellDelta}>
      {delta !== null && <DeltaBar delta={delta} low={low} high={high} reach={rowReach(row)} tone={tone} />}
      {delta !== null && <span className={classes.delta}>{formatChange(delta)}</span>}
      {low !== null && high !== null && low !== high && (
        <span className={classes.interval} title={t("compare.deltaInterval")}>
          {formatChange(low)} … {formatChange(high)}
        </span>
      )}
      <CellOpinion cell={cell} />
      {cell.remark !== "" && cell.remark !== told && (
        <span className={classes.remark}>{remarkText(cell.remark, t)}</span>
      )}
    </div>
  );
}

function CellOpinion({ cell }: { cell: CompareCell }) {
  const { t } = useTranslation();
  const isJudged = cell.grade !== null;
  return (
    <OpinionMark opinion={cell.opinion} grade={cell.grade} {...(!isJudged && { label: t("compare.notJudged") })} />
  );
}

function CellDetail(props: { cell: CompareCell; isBase: boolean; measure: (value: number | null) => string }) {
  const { cell, isBase, measure } = props;
  const { t } = useTranslation();
  return (
    <div className={classes.cellDetail}>
      {!isBase && cell.p_value !== null && <span>{t("compare.pValue", { value: pText(cell.p_value) })}</span>}
      {cell.per_run.length > 1 && <span>{cell.per_run.map(measure).join(" · ")}</span>}
      {cell.spread !== null && <span>{t("compare.spread", { share: `${(cell.spread * 100).toFixed(1)}%` })}</span>}
    </div>
  );
}

/** `< 0.001`, `0.004`, `0.12`. */
function pText(value: number): string {
  if (value < 0.001) return "< 0.001";
  return `= ${value < 0.01 ? value.toFixed(3) : value.toFixed(2)}`;
}

const REMARKS = [
  "no-data",
  "short",
  "single-run",
  "few-repeats",
  "limit-differs",
  "far-from-limit",
  "limit-unknown",
  "no-direction",
  "below-zero",
] as const;

/** A code that this page does not know is shown as it is. */
function remarkText(code: string, t: TFunction): string {
  const known = REMARKS.find((one) => one === code);
  return known === undefined ? code : t(`compare.remark_${known}`);
}
