import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { Cost } from "@/api/runs/types";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { Table } from "@/ui/list/table";
import { Dim, Hint, TextButton } from "@/ui/text/text";
import classes from "./cost.module.css";
import { ChangeText, ShareCell } from "./cost-cells";
import { byRouteText } from "./model";

const FEW = 8;

/** Functions that the processor worked in, by the CPU profiles that the run kept. */
export function FunctionCosts({ functions }: { functions: Cost["functions"] }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const [all, setAll] = useState(false);
  if (functions === null || functions.functions.length === 0) return null;
  const unit = functions.unit === "seconds" ? "seconds" : "count";
  return (
    <>
      <Table label={t("cost.functionTable")} bare className={classes.table}>
        <caption className={classes.caption}>{t("cost.functions")}</caption>
        <thead>
          <tr>
            <th scope="col">{t("cost.function")}</th>
            <th scope="col" data-number>
              {t("cost.own")}
            </th>
            <th scope="col" data-number>
              {t("cost.withCalled")}
            </th>
            <th scope="col" data-number>
              {t(`cost.per_${functions.per}`)}
            </th>
          </tr>
        </thead>
        <tbody>
          {functions.functions.slice(0, all ? undefined : FEW).map((one) => (
            <tr key={`${one.name} ${one.file}`}>
              <th scope="row" className={classes.statement}>
                <code>{one.name}</code> {one.words !== null && <Dim>{one.words}</Dim>}
              </th>
              <ShareCell share={one.share} />
              <td data-number>{formatValue(one.cum_share, "ratio", locale)}</td>
              <td data-number>
                {formatValue(one.cum, unit, locale)} <ChangeText value={one.cum} base={one.base_cum} />
              </td>
            </tr>
          ))}
        </tbody>
      </Table>
      {functions.functions.length > FEW && (
        <TextButton aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? t("cost.fewer") : t("cost.all", { total: functions.functions.length })}
        </TextButton>
      )}
      {functions.requests_by === "routes" && <Hint>{t("cost.requests_routes")}</Hint>}
      {functions.by_route.length > 0 && (
        <Hint>
          {t("cost.cpuByRoute")} {functions.by_route.map((one) => byRouteText(one, locale)).join(", ")}
        </Hint>
      )}
    </>
  );
}
