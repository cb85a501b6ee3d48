import { Menu } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { RefObject } from "react";
import { useTranslation } from "react-i18next";
import type { ChartSeries } from "@/charts/chart-types";
import { saveChartCsv, saveChartPng } from "@/charts/export/export";
import type { Grid } from "@/lib/series/series";
import type { Range } from "@/lib/time/time";
import { type PanelInfo, portableExpression } from "@/panels/panel-catalogue";
import { PinItem } from "@/panels/signal/pin-item";
import { CommandLine } from "@/ui/command-line";
import { Dialog } from "@/ui/form/dialog";
import { Icon } from "@/ui/icon";
import { IconButton } from "@/ui/icon-button";
import { notifyGood, notifyProblem } from "@/ui/notify";
import classes from "./panel-menu.module.css";

/** What the chart shows now. */
export interface Shown {
  readonly grid: Grid;
  readonly series: readonly ChartSeries[];
  readonly range: Range;
}

interface Props {
  readonly panel: PanelInfo;
  readonly box: RefObject<HTMLElement | null>;
  /** Read when an entry is chosen: as plain props these would render the menu again with every sample. */
  readonly shown: RefObject<Shown>;
  readonly stepMs: number;
  readonly empty: boolean;
  readonly onFull: (id: string) => void;
  /** Where a page can show a chart for each instance. */
  readonly onPerInstance?: (id: string) => void;
}

export function PanelMenu({ panel, box, shown, stepMs, empty, onFull, onPerInstance }: Props) {
  const { t } = useTranslation();
  const [about, showAbout] = useDisclosure();
  const expressions = panel.signals.map((signal) => portableExpression(signal, (4 * stepMs) / 1000));
  const copy = (text: string, done: string) => {
    const writing = navigator.clipboard?.writeText(text) ?? Promise.reject(new Error("no clipboard"));
    writing.then(
      () => notifyGood(done),
      () => notifyProblem(t("range.clipboardDenied"), t("range.clipboardHint")),
    );
  };
  const link = () => {
    const address = new URL(globalThis.location.href);
    address.hash = `panel-${panel.id}`;
    return address.href;
  };
  const png = () => {
    if (box.current === null) return;
    // Charts that stand side by side are a picture each, under their own titles.
    for (const chart of box.current.querySelectorAll("figure.lw-chart")) {
      const own = chart.querySelector(".lw-title")?.textContent ?? panel.title;
      const title = own.includes(panel.title) ? own : t("fleet.one", { title: panel.title, name: own });
      saveChartPng(title, chart, shown.current.range).catch((error: unknown) =>
        notifyProblem(t("panel.pngFailed"), String(error)),
      );
    }
  };
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <IconButton icon="more" size={24} label={t("panel.menu", { title: panel.title })} />
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<Icon name="expand" />} onClick={() => onFull(panel.id)}>
            {t("panel.full")}
          </Menu.Item>
          {onPerInstance !== undefined && panel.table !== true && (
            <Menu.Item leftSection={<Icon name="instances" />} onClick={() => onPerInstance(panel.id)}>
              {t("panel.perInstance")}
            </Menu.Item>
          )}
          <Menu.Item leftSection={<Icon name="info" />} onClick={showAbout.open}>
            {t("panel.about")}
          </Menu.Item>
          <Menu.Divider />
          <Menu.Item
            leftSection={<Icon name="copy" />}
            onClick={() => copy(expressions.join("\n"), t("panel.exprCopied"))}
          >
            {t("panel.copyExpr")}
          </Menu.Item>
          <Menu.Item leftSection={<Icon name="link" />} onClick={() => copy(link(), t("panel.linkCopied"))}>
            {t("panel.copyLink")}
          </Menu.Item>
          <PinItem panel={panel} />
          <Menu.Divider />
          <Menu.Item
            leftSection={<Icon name="download" />}
            disabled={empty}
            onClick={() => saveChartCsv(panel.title, shown.current.grid, shown.current.series, shown.current.range)}
          >
            {t("panel.csv")}
          </Menu.Item>
          <Menu.Item leftSection={<Icon name="image" />} disabled={empty} onClick={png}>
            {t("panel.png")}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Dialog opened={about} onClose={showAbout.close} title={panel.title} size="lg">
        {panel.signals.map((signal, place) => (
          <section key={signal.id} className={classes.signal}>
            <h3>{signal.title}</h3>
            <p>{signal.help}</p>
            <p className={classes.orientation}>{t(`panel.orientation_${signal.orientation}`)}</p>
            <CommandLine text={expressions[place] ?? ""} copy={t("panel.copyExpr")} />
          </section>
        ))}
      </Dialog>
    </>
  );
}
