import { useTranslation } from "react-i18next";
import type { Cost } from "@/api/runs/types";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { Table } from "@/ui/list/table";
import { Dim, Hint } from "@/ui/text/text";
import classes from "./cost.module.css";
import { ShareCell } from "./cost-cells";

/** CPU time of each request by route, of each program; the application labels nothing. */
export function CpuCosts({ cpu }: { cpu: Cost["cpu"] }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const seconds = (value: number) => formatValue(value, "seconds", locale);
  return cpu.map(({ job, routes, untold }) => (
    <div key={job}>
      {routes.length > 0 && (
        <Table label={t("cost.cpuTable", { job })} bare className={classes.table}>
          <caption className={classes.caption}>{t("cost.cpuTable", { job })}</caption>
          <thead>
            <tr>
              <th scope="col">{t("cost.route")}</th>
              <th scope="col" data-number>
                {t("cost.cpuShare")}
              </th>
              <th scope="col" data-number>
                {t("cost.cpuEach")}
              </th>
            </tr>
          </thead>
          <tbody>
            {routes.map((one) => (
              <tr key={one.routes.join()}>
                <th scope="row" title={t(`cost.basis_${one.basis}_hint`)}>
                  {one.routes.join(" + ")}
                </th>
                <ShareCell share={one.share} />
                <td data-number>
                  {seconds(one.each.value)}{" "}
                  <Dim>
                    ({seconds(one.each.low)} – {seconds(one.each.high)})
                  </Dim>
                </td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
      {untold.length > 0 && <Hint>{t("cost.cpuUntold", { job, routes: untold.join(", ") })}</Hint>}
    </div>
  ));
}
