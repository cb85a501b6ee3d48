import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { Cost, RunStatements } from "@/api/runs/types";
import { formatCount } from "@/lib/run-text";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { Table } from "@/ui/list/table";
import { Badge } from "@/ui/text/tag";
import { Dim, TextButton } from "@/ui/text/text";
import classes from "./cost.module.css";
import { ChangeText, ShareCell } from "./cost-cells";
import { callsText } from "./model";
import { type StatementLine, statementLines, statementMarks } from "./statement-lines";
import { Plan } from "./statement-plan";

const FEW = 5;
const TOLD = ["perRequest", "lock", "examined", "disk", "noIndex"] as const;
/** Columns that stand there where somebody counted. */
type Told = (typeof TOLD)[number];

interface StatementCostsProps {
  readonly cost: Cost;
  readonly statements: RunStatements | undefined;
}

/** Statements by time, each with who asks it. */
export function StatementCosts({ cost, statements }: StatementCostsProps) {
  const { t } = useTranslation();
  const [all, setAll] = useState(false);
  const lines = statementLines(cost, statements);
  if (lines.length === 0) return null;
  const told = TOLD.filter((name) => lines.some((one) => one[name] !== null));
  return (
    <>
      <Table label={t("cost.statementTable")} bare className={classes.table}>
        <caption className={classes.caption}>{t("cost.statements")}</caption>
        <thead>
          <tr>
            <th scope="col">{t("cost.statement")}</th>
            {(["share", "allCalls", "callTime", ...told] as const).map((head) => (
              <th key={head} scope="col" data-number>
                {t(`cost.${head}`)}
              </th>
            ))}
            <th scope="col">{t("cost.askedBy")}</th>
          </tr>
        </thead>
        <tbody>
          {(all ? lines : lines.slice(0, FEW)).map((one) => (
            <Row key={one.id} one={one} told={told} />
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

function Row({ one, told }: { one: StatementLine; told: readonly Told[] }) {
  const { t } = useTranslation();
  const locale = useLocale();
  return (
    <tr>
      <th scope="row" className={classes.statement}>
        <code>{one.text}</code>{" "}
        {statementMarks(one).map((mark) => (
          <Badge key={mark} warns={mark !== "disk"} title={t(`cost.mark_${mark}_hint`)}>
            {t(`cost.mark_${mark}`)}
          </Badge>
        ))}
        {one.plan !== null && <Plan plan={one.plan} />}
      </th>
      <ShareCell share={one.share} />
      <td data-number>
        {formatCount(one.calls)} <ChangeText value={one.calls} base={one.baseCalls} />
      </td>
      <td data-number>
        {formatValue(one.mean, "seconds", locale)} <ChangeText value={one.mean} base={one.baseMean} />
      </td>
      {told.map((name) => (
        <td key={name} data-number>
          <ToldText one={one} name={name} />
        </td>
      ))}
      <td className={classes.callers}>
        {one.routes.length > 0 ? one.routes.join(", ") : <Dim>{t("cost.nobody")}</Dim>}
      </td>
    </tr>
  );
}

function ToldText({ one, name }: { one: StatementLine; name: Told }) {
  const locale = useLocale();
  const value = one[name];
  if (value === null) return "–";
  if (name === "lock") return formatValue(value, "seconds", locale);
  if (name === "noIndex") return formatValue(Math.min(value, 1), "ratio", locale);
  if (name !== "perRequest") return formatCount(value);
  return (
    <>
      {callsText(value)} <ChangeText value={value} base={one.basePerRequest} />
    </>
  );
}
