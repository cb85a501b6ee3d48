import { type ReactNode, useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { ChartLateness } from "@/charts/chart-types";
import type { Answer } from "@/lib/series/series";
import { formatDuration, formatInstant, wholeMinutes } from "@/lib/time/time";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import type { PanelInfo } from "@/panels/panel-catalogue";
import { ScrollBox } from "@/ui/list/scroll-box";
import { Table } from "@/ui/list/table";
import { hostMatrix, layerRows } from "./layer-rows";
import classes from "./layer-table.module.css";

interface Props {
  readonly panel: PanelInfo;
  readonly answer: Answer | undefined;
  /** How far its source is behind; null where that is not to be said. */
  readonly late: ChartLateness | null;
  readonly error: string | null;
  readonly actions: ReactNode;
}

const STATEMENTS = { instance: "fleet.rowsInstance", layer: "fleet.rowsStatement" } as const;
const ROUTES = { instance: "fleet.rowsJob", layer: "fleet.rowsRoute" } as const;
const PEERS = { instance: "fleet.rowsInstance", layer: "fleet.rowsPeer" } as const;
const WORDS = new Map<string, typeof STATEMENTS | typeof ROUTES | typeof PEERS>([
  ["request", ROUTES],
  ["ends", PEERS],
]);

/** A stack that is read rather than drawn: the greatest layers, of which time they are, and how late. */
export function LayerTable({ panel, answer, late, error, actions }: Props) {
  const { t } = useTranslation();
  const locale = useLocale();
  const { zone } = useView();
  const { rows, window, instances } = useMemo(
    () => (answer === undefined ? { rows: [], window: null, instances: 0 } : layerRows(panel, answer)),
    [panel, answer],
  );
  const [layer = ""] = panel.signals[0]?.layers ?? [];
  const words = WORDS.get(layer) ?? STATEMENTS;
  const instant = (timeMs: number) => formatInstant(timeMs, zone, locale);
  return (
    <figure>
      <figcaption className={classes.head}>
        <span className={classes.title} title={panel.help}>
          {panel.title}
        </span>
        {window !== null && (
          <span className={classes.window}>
            {t("fleet.rowsWindow", { from: instant(window.fromMs), to: instant(window.toMs) })}
          </span>
        )}
        {late !== null && (
          <span className={classes.window}>
            {t("fleet.asOf", {
              source: late.source,
              age: formatDuration(wholeMinutes(late.nowMs - late.newestMs), locale),
            })}
          </span>
        )}
        <span className={classes.actions}>{actions}</span>
      </figcaption>
      {error !== null && <p role="alert">⚠ {error}</p>}
      {error === null && rows.length === 0 && <p className={classes.window}>{panel.help}</p>}
      {layer === "to" && answer !== undefined && <HostMatrix panel={panel} answer={answer} />}
      {layer !== "to" && rows.length > 0 && (
        <ScrollBox label={panel.title} className={classes.scroll}>
          <table className={classes.table}>
            <thead>
              <tr>
                <th scope="col" data-number>
                  {panel.signals[0]?.title}
                </th>
                <th scope="col" data-number>
                  {t("fleet.rowsShare")}
                </th>
                {instances > 1 && <th scope="col">{t(words.instance)}</th>}
                <th scope="col">{t(words.layer)}</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={row.key}>
                  <td data-number>{formatValue(row.mean, panel.unit, locale)}</td>
                  <td data-number>{formatValue(row.share, "ratio", locale)}</td>
                  {instances > 1 && <td>{row.instance}</td>}
                  <td>{row.name === null ? t("fleet.rowsRest") : <code>{row.name}</code>}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollBox>
      )}
    </figure>
  );
}

/** Connections from each host (row) to each (column), and the share of all that a host opened. */
function HostMatrix({ panel, answer }: { panel: PanelInfo; answer: Answer }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const { from, to, cells, shares } = useMemo(() => hostMatrix(panel, answer), [panel, answer]);
  if (from.length === 0) return null;
  return (
    <Table label={panel.title} bare className={classes.table}>
      <thead>
        <tr>
          <th scope="col">{t("fleet.rowsFrom")}</th>
          {to.map((host) => (
            <th key={host} scope="col" data-number>
              → {host}
            </th>
          ))}
          <th scope="col" data-number>
            {t("fleet.rowsShare")}
          </th>
        </tr>
      </thead>
      <tbody>
        {from.map((host, row) => (
          <tr key={host}>
            <th scope="row">{host}</th>
            {to.map((other, column) => (
              <td key={other} data-number>
                {formatValue(cells[row]?.[column] ?? null, panel.unit, locale)}
              </td>
            ))}
            <td data-number>{formatValue(shares[row] ?? null, "ratio", locale)}</td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}
