import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { Cost, CostStatement } from "@/api/runs/types";
import { formatCount } from "@/lib/run-text";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { Table } from "@/ui/list/table";
import { Badge } from "@/ui/text/tag";
import { Dim, TextButton } from "@/ui/text/text";
import classes from "./cost.module.css";
import { ChangeText, ShareCell } from "./cost-cells";
import { statementMarks } from "./model";
import { Plan } from "./statement-plan";

const FEW = 5;

/** Statements by time, each with who asks it. */
export function StatementCosts({ cost }: { cost: Cost }) {
  const { t } = useTranslation();
  const [all, setAll] = useState(false);
  if (cost.statements.length === 0) return null;
  return (
    <>
      <Table label={t("cost.statementTable")} bare className={classes.table}>
        <caption className={classes.caption}>{t("cost.statements")}</caption>
        <thead>
          <tr>
            <th scope="col">{t("cost.statement")}</th>
            <th scope="col" data-number>
              {t("cost.share")}
            </th>
            <th scope="col" data-number>
              {t("cost.allCalls")}
            </th>
            <th scope="col" data-number>
              {t("cost.callTime")}
            </th>
            <th scope="col" data-number>
              {t("cost.examined")}
            </th>
            <th scope="col">{t("cost.askedBy")}</th>
          </tr>
        </thead>
        <tbody>
          {(all ? cost.statements : cost.statements.slice(0, FEW)).map((one) => (
            <Row key={one.id} one={one} />
          ))}
        </tbody>
      </Table>
      {cost.statements.length > FEW && (
        <TextButton aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? t("cost.fewer") : t("cost.all", { total: cost.statements.length })}
        </TextButton>
      )}
    </>
  );
}

function Row({ one }: { one: CostStatement }) {
  const { t } = useTranslation();
  const locale = useLocale();
  return (
    <tr>
      <th scope="row" className={classes.statement}>
        <code>{one.text || one.id}</code>{" "}
        {statementMarks(one).map((mark) => (
          <Badge key={mark} warns={mark !== "disk"} title={t(`cost.mark_${mark}_hint`)}>
            {t(`cost.mark_${mark}`)}
          </Badge>
        ))}
        {one.plan !== null && <Plan plan={one.plan} />}
      </th>
      <ShareCell share={one.share} />
      <td data-number>
        {formatCount(one.calls)} <ChangeText value={one.calls} base={one.base_calls} />
      </td>
      <td data-number>
        {formatValue(one.mean_seconds, "seconds", locale)}{" "}
        <ChangeText value={one.mean_seconds} base={one.base_mean_seconds} />
      </td>
      <td data-number>{one.examined_per_sent === null ? "–" : formatCount(one.examined_per_sent)}</td>
      <td className={classes.callers}>
        {one.routes.length > 0 ? [...new Set(one.routes)].join(", ") : <Dim>{t("cost.nobody")}</Dim>}
      </td>
    </tr>
  );
}
