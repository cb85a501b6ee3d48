import { Fragment, useId, useState } from "react";
import { useTranslation } from "react-i18next";
import type { Cost, CostShare, CostStatement, RunRoutes } from "@/api/runs/types";
import { formatCount } from "@/lib/run-text";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { Icon } from "@/ui/icon";
import { Table } from "@/ui/list/table";
import { Badge, Tag } from "@/ui/text/tag";
import { Dim, TextButton } from "@/ui/text/text";
import classes from "./cost.module.css";
import { ChangeText, ShareCell } from "./cost-cells";
import {
  answerShares,
  asksDatabase,
  callsText,
  type RouteLine,
  rangeText,
  rankBase,
  rankRange,
  rankText,
  routeLines,
} from "./model";

const FEW = 10;

const RANKS = ["p50", "p90", "p99", "max"] as const;

interface CostsProps {
  readonly cost: Cost;
  readonly routes: RunRoutes | undefined;
}

/** Routes: their requests and durations, and what they ask of the database, each with the statements. */
export function RouteCosts({ cost, routes }: CostsProps) {
  const { t } = useTranslation();
  const [all, setAll] = useState(false);
  const lines = routeLines(cost, routes);
  if (lines.length === 0) return null;
  const asks = asksDatabase(cost);
  const statements = new Map(cost.statements.map((one) => [one.id, one]));
  const heads = [
    ...(asks ? (["share", "calls", "databaseTime"] as const) : []),
    ...(["timeShare", "requests", "answers", ...RANKS, "bytes"] as const),
  ];
  return (
    <>
      <Table label={t("cost.routeTable")} bare className={classes.table}>
        <caption className={classes.caption}>{t(asks ? "cost.routes" : "cost.routesByTime")}</caption>
        <thead>
          <tr>
            <th scope="col">{t("cost.route")}</th>
            {heads.map((head) => (
              <th key={head} scope="col" data-number>
                {t(`cost.${head}`)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {(all ? lines : lines.slice(0, FEW)).map((line, place) => (
            <RouteRows key={line.name} line={line} asks={asks} statements={statements} opened={place === 0} />
          ))}
        </tbody>
      </Table>
      {lines.length > FEW && (
        <TextButton aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? t("cost.fewer") : t("cost.all", { total: lines.length })}
        </TextButton>
      )}
    </>
  );
}

interface RowsProps {
  readonly line: RouteLine;
  readonly asks: boolean;
  readonly statements: ReadonlyMap<string, CostStatement>;
  readonly opened: boolean;
}

function RouteRows({ line, asks, statements, opened }: RowsProps) {
  const { t } = useTranslation();
  const locale = useLocale();
  const id = useId();
  const [open, setOpen] = useState(opened);
  const { name, cost } = line;
  const asked = cost?.statements ?? [];
  return (
    <>
      <tr data-lead={open && asked.length > 0}>
        <th scope="row" className={classes.name}>
          {asked.length > 0 ? (
            <button
              type="button"
              className={classes.toggle}
              aria-expanded={open}
              aria-controls={open ? id : undefined}
              onClick={() => setOpen(!open)}
            >
              <span className={classes.arrow} data-open={open}>
                <Icon name="chevronDown" size={12} />
              </span>
              {name}
            </button>
          ) : (
            <span className={classes.still}>{name}</span>
          )}{" "}
          {asked.some((share) => share.repeated) && (
            <Badge warns title={t("cost.repeatedHint")}>
              N+1
            </Badge>
          )}
        </th>
        {asks && (
          <>
            <ShareCell share={cost?.share ?? null} />
            <td data-number>
              {cost === null || cost.calls === null ? "–" : callsText(cost.calls.value)}{" "}
              <ChangeText value={cost?.calls?.value} base={cost?.base_calls ?? null} />
            </td>
            <td data-number>
              {formatValue(cost?.database_seconds?.value, "seconds", locale)}{" "}
              <ChangeText value={cost?.database_seconds?.value} base={cost?.base_database_seconds ?? null} />
            </td>
          </>
        )}
        <RequestCells line={line} />
      </tr>
      {open &&
        asked.map((share, place) => (
          <Fragment key={share.statement}>
            <ShareRow share={share} statement={statements.get(share.statement)} {...(place === 0 && { id })} />
          </Fragment>
        ))}
    </>
  );
}

/** What was counted of a route, in the order of the heads. */
function RequestCells({ line: { figures, cost } }: { line: RouteLine }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const seconds = (value: number) => formatValue(value, "seconds", locale);
  const answers = answerShares(figures?.statuses ?? {});
  return (
    <>
      <ShareCell share={figures?.share ?? null} />
      <td data-number title={figures === null ? undefined : formatCount(figures.requests)}>
        {formatValue(figures?.rate ?? cost?.rate, "per_second", locale)}
      </td>
      <td data-number className={classes.callers}>
        {answers.length === 0 && "–"}
        {answers
          .map(([name, share]) => {
            const text = name === "none" ? t("cost.noAnswer") : name;
            return share === null ? text : `${text} ${formatValue(share, "ratio", locale)}`;
          })
          .join(" · ")}
      </td>
      {RANKS.map((name) => {
        const rank = figures?.ranks?.[name];
        return (
          <td key={name} data-number title={rankRange(rank, seconds)}>
            {rankText(rank, seconds)}{" "}
            <ChangeText value={rank?.value} base={rankBase(rank, figures?.base?.ranks?.[name])} />
          </td>
        );
      })}
      <td data-number>
        {formatValue(
          figures === null || figures.bytes === null ? null : figures.bytes / figures.requests,
          "bytes",
          locale,
        )}
      </td>
    </>
  );
}

interface ShareProps {
  readonly share: CostShare;
  readonly statement: CostStatement | undefined;
  readonly id?: string;
}

function ShareRow({ share, statement, id }: ShareProps) {
  const { t } = useTranslation();
  const locale = useLocale();
  const range = rangeText(share.calls);
  return (
    <tr id={id} className={classes.asked}>
      <th scope="row" className={classes.statement}>
        <code>{statement === undefined || statement.text === "" ? share.statement : statement.text}</code>{" "}
        {share.repeated && (
          <Badge warns title={t("cost.repeatedHint")}>
            N+1
          </Badge>
        )}{" "}
        <Tag small title={t(`cost.basis_${share.basis}_hint`)}>
          {t(`cost.basis_${share.basis}`)}
        </Tag>
      </th>
      <ShareCell share={share.share} />
      <td data-number>
        {callsText(share.calls.value)}
        {range !== null && <Dim> ({range})</Dim>} <ChangeText value={share.calls.value} base={share.base_calls} />
      </td>
      <td data-number>
        {formatValue(share.seconds.value, "seconds", locale)}{" "}
        <ChangeText value={share.seconds.value} base={share.base_seconds} />
      </td>
      <td colSpan={8}>
        {statement !== undefined && (
          <Dim>
            {t("cost.each", {
              time: formatValue(statement.mean_seconds, "seconds", locale),
              calls: formatCount(statement.calls),
            })}
          </Dim>
        )}
      </td>
    </tr>
  );
}
