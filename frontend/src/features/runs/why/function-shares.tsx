import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { profilesQuery, profileViewQuery } from "@/api/profiles/queries";
import type { Run } from "@/api/runs/types";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import classes from "@/panels/cost/cost.module.css";
import { ChangeText, ShareCell } from "@/panels/cost/cost-cells";
import { Table } from "@/ui/list/table";
import { Dim, Hint } from "@/ui/text/text";
import { cpuFiles, functionRows, routeLabels } from "./functions";

/** Functions that the processor worked in, of the CPU profiles that the run kept. */
export function FunctionShares({ run }: { run: Run }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const list = useQuery(profilesQuery(run.id)).data;
  const ask = { files: cpuFiles(list?.profiles ?? []), base: cpuFiles(list?.base?.profiles ?? []), type: "" };
  const view = useQuery(profileViewQuery(ask, locale)).data;
  if (view === undefined || ask.files.length === 0 || view.total <= 0) return null;
  const labels = routeLabels(view);
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
          </tr>
        </thead>
        <tbody>
          {functionRows(view).map((one) => (
            <tr key={`${one.name} ${one.file}`}>
              <th scope="row" className={classes.statement}>
                <code>{one.name}</code> {one.words !== null && <Dim>{one.words}</Dim>}
              </th>
              <ShareCell share={one.flat / view.total} />
              <td data-number>
                {formatValue(one.cum / view.total, "ratio", locale)} <ChangeText value={one.cum} base={one.base_cum} />
              </td>
            </tr>
          ))}
        </tbody>
      </Table>
      {labels.length > 0 && (
        <Hint>
          {t("cost.cpuByRoute")}{" "}
          {labels.map(({ text, share }) => `${text} ${formatValue(share, "ratio", locale)}`).join(", ")}
        </Hint>
      )}
      <Hint>
        <Link to={`/runs/${run.id}/profiles`}>{t("cost.allProfiles")}</Link>
      </Hint>
    </>
  );
}
