import { Kbd } from "@mantine/core";
import { Fragment } from "react";
import { useTranslation } from "react-i18next";
import { Dialog } from "@/ui/form/dialog";
import classes from "./shortcuts-dialog.module.css";

export function ShortcutsDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useTranslation();
  const page: [string, string[]][] = [
    [t("keys.palette"), ["Ctrl", "+", "K"]],
    [t("keys.help"), ["?"]],
    [t("keys.pause"), ["P"]],
    [t("keys.undo"), ["Ctrl", "+", "Z"]],
    [t("keys.widen"), ["-"]],
    [t("keys.pan"), [",", "."]],
    [t("keys.copy"), ["C", "V"]],
    [t("keys.note"), ["N"]],
    [t("keys.notes"), ["A"]],
    [t("keys.zone"), ["U"]],
    [t("keys.go"), ["G", "L", "G", "R", "G", "T"]],
  ];
  const runs: [string, string[]][] = [
    [t("keys.runsWalk"), ["J", "K"]],
    [t("keys.runsOpen"), ["Enter"]],
    [t("keys.runsSelect"), ["X"]],
    [t("keys.runsCompare"), ["C"]],
    [t("keys.runsSearch"), ["/"]],
    [t("keys.meetingWalk"), ["←", "→"]],
    [t("keys.meetingFull"), ["F"]],
  ];
  const alerts: [string, string[]][] = [
    [t("alerts.keys.walk"), ["J", "K"]],
    [t("alerts.keys.open"), ["Enter"]],
    [t("alerts.keys.acknowledge"), ["A"]],
    [t("alerts.keys.silence"), ["S"]],
    [t("alerts.keys.search"), ["/"]],
  ];
  const chart: [string, string[]][] = [
    [t("keys.chartWalk"), ["[", "]"]],
    [t("keys.chartMove"), ["←", "→"]],
    [t("keys.chartZoom"), ["Space", "Enter"]],
    [t("keys.chartNote"), ["Enter"]],
    [t("keys.chartBack"), ["Backspace"]],
    [t("keys.mouseZoom"), [t("keys.drag")]],
    [t("keys.mouseBack"), [t("keys.doubleClick")]],
    [t("keys.mouseNote"), [t("keys.click")]],
  ];
  return (
    <Dialog opened={opened} onClose={onClose} title={t("keys.title")} size="lg">
      <div className={classes.columns}>
        <Keys title={t("keys.scopePage")} rows={page} />
        <Keys title={t("keys.scopeChart")} rows={chart} />
        <Keys title={t("keys.scopeRuns")} rows={runs} />
        <Keys title={t("alerts.keys.title")} rows={alerts} />
      </div>
    </Dialog>
  );
}

function Keys({ title, rows }: { title: string; rows: readonly [string, readonly string[]][] }) {
  return (
    <section>
      <h3 className={classes.title}>{title}</h3>
      <dl className={classes.rows}>
        {rows.map(([what, keys]) => (
          <Fragment key={what}>
            <dt>{what}</dt>
            <dd>
              {/* biome-ignore lint/suspicious/noArrayIndexKey: a fixed list */}
              {keys.map((key, index) => (key === "+" ? <span key={index}>+</span> : <Kbd key={index}>{key}</Kbd>))}
            </dd>
          </Fragment>
        ))}
      </dl>
    </section>
  );
}
