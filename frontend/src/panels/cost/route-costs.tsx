import { Fragment, useId, useState } from "react";
import { useTranslation } from "react-i18next";
import type { Cost, CostRoute, CostShare, CostStatement } from "@/api/runs/types";
import { formatCount } from "@/lib/run-text";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { Icon } from "@/ui/icon";
import { Table } from "@/ui/list/table";
import { Badge, Tag } from "@/ui/text/tag";
import { Dim, TextButton } from "@/ui/text/text";
import classes from "./cost.module.css";
import { ChangeText, ShareCell } from "./cost-cells";
import { callsText, rangeText } from "./model";

const FEW = 10;

/** Routes by the database's time, each with the statements that it asks. */
export function RouteCosts({ cost }: { cost: Cost }) {
  const { t } = useTranslation();
  const [all, setAll] = useState(false);
  if (cost.routes.length === 0) return null;
  const statements = new Map(cost.statements.map((one) => [one.id, one]));
  return (
    <>
      <Table label={t("cost.routeTable")} bare className={classes.table}>
        <caption className={classes.caption}>{t("cost.routes")}</caption>
        <thead>
          <tr>
            <th scope="col">{t("cost.route")}</th>
            <th scope="col" data-number>
              {t("cost.share")}
            </th>
            <th scope="col" data-number>
              {t("cost.calls")}
            </th>
            <th scope="col" data-number>
              {t("cost.databaseTime")}
            </th>
            <th scope="col" data-number>
              {t("cost.requestTime")}
            </th>
            <th scope="col" data-number>
              {t("cost.rate")}
            </th>
            <th scope="col" data-number>
              {t("cost.notModified")}
            </th>
          </tr>
        </thead>
        <tbody>
          {(all ? cost.routes : cost.routes.slice(0, FEW)).map((route, place) => (
            <RouteRows key={route.name} route={route} statements={statements} opened={place === 0} />
          ))}
        </tbody>
      </Table>
      {cost.routes.length > FEW && (
        <TextButton aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? t("cost.fewer") : t("cost.all", { total: cost.routes.length })}
        </TextButton>
      )}
    </>
  );
}

interface RowsProps {
  readonly route: CostRoute;
  readonly statements: ReadonlyMap<string, CostStatement>;
  readonly opened: boolean;
}

function RouteRows({ route, statements, opened }: RowsProps) {
  const { t } = useTranslation();
  const locale = useLocale();
  const id = useId();
  const [open, setOpen] = useState(opened);
  const asks = route.statements.length > 0;
  const repeats = route.statements.some((share) => share.repeated);
  return (
    <>
      <tr data-lead={open && asks}>
        <th scope="row" className={classes.name}>
          {asks ? (
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
              {route.name}
            </button>
          ) : (
            <span className={classes.still}>{route.name}</span>
          )}{" "}
          {repeats && (
            <Badge warns title={t("cost.repeatedHint")}>
              N+1
            </Badge>
          )}
        </th>
        <ShareCell share={route.share} />
        <td data-number>
          {route.calls === null ? "–" : callsText(route.calls.value)}{" "}
          <ChangeText value={route.calls?.value} base={route.base_calls} />
        </td>
        <td data-number>
          {formatValue(route.database_seconds?.value, "seconds", locale)}{" "}
          <ChangeText value={route.database_seconds?.value} base={route.base_database_seconds} />
        </td>
        <td data-number>
          {formatValue(route.seconds, "seconds", locale)} <ChangeText value={route.seconds} base={route.base_seconds} />
        </td>
        <td data-number>{formatValue(route.rate, "per_second", locale)}</td>
        <td data-number>
          {route.requests > 0 ? formatValue(route.not_modified / route.requests, "ratio", locale) : "–"}
        </td>
      </tr>
      {open &&
        route.statements.map((share, place) => (
          <Fragment key={share.statement}>
            <ShareRow share={share} statement={statements.get(share.statement)} {...(place === 0 && { id })} />
          </Fragment>
        ))}
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
      <td colSpan={3}>
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
