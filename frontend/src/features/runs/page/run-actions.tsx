import { Button, Menu } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { runFiles } from "@/api/runs/queries";
import type { Run } from "@/api/runs/types";
import { useLocale } from "@/lib/use-locale";
import { Icon } from "@/ui/icon";
import { IconButton } from "@/ui/icon-button";
import { comparePath } from "../list/list-state";
import { useRunUpdate } from "../model/use-run-update";
import { DeleteRun } from "./delete-run";
import { EditRun } from "./edit-run";
import { ExportRun } from "./export-run";
import classes from "./run-header.module.css";
import { ShareRun } from "./share-run";

type Open = "share" | "export" | "edit" | "delete" | null;
const FORMATS = ["html", "md", "json"] as const;

export function RunActions({ run }: { run: Run }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const { pin } = useRunUpdate(run.id);
  const [open, setOpen] = useState<Open>(null);
  const baseline = run.baseline !== null && run.baseline !== run.id ? run.baseline : null;
  const close = () => setOpen(null);
  return (
    <div className={classes.actions}>
      {baseline !== null && (
        <Button
          component={Link}
          to={comparePath([baseline, run.id])}
          size="xs"
          leftSection={<Icon name="compare" size={14} />}
        >
          {t("runs.page.compareBaseline")}
        </Button>
      )}
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" size="xs" rightSection={<Icon name="chevronDown" size={12} />}>
            {t("runs.page.report")}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {FORMATS.map((format) => (
            <Menu.Item
              key={format}
              component="a"
              href={runFiles.report(run.id, format, locale)}
              target="_blank"
              rel="noreferrer"
            >
              {t(`runs.page.report_${format}`)}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      <Button
        variant="default"
        size="xs"
        leftSection={<Icon name="share" size={14} />}
        onClick={() => setOpen("share")}
      >
        {t("runs.page.share")}
      </Button>
      <Menu position="bottom-end">
        <Menu.Target>
          <IconButton icon="more" label={t("runs.page.more")} size={30} variant="default" />
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<Icon name="edit" size={14} />} onClick={() => setOpen("edit")}>
            {t("runs.page.edit")}
          </Menu.Item>
          <Menu.Item
            leftSection={<Icon name="pin" size={14} />}
            disabled={run.scenario === "" && !run.is_baseline}
            onClick={() => pin.mutate(!run.is_baseline)}
          >
            {run.is_baseline ? t("runs.page.unpin") : t("runs.page.pin")}
            {run.scenario === "" && <span className={classes.menuHint}>{t("runs.page.pinNeedsScenario")}</span>}
          </Menu.Item>
          <Menu.Divider />
          <Menu.Item leftSection={<Icon name="download" size={14} />} onClick={() => setOpen("export")}>
            {t("runs.page.export")}
          </Menu.Item>
          {run.source?.has_records === true && (
            <Menu.Item
              component="a"
              href={runFiles.records(run.id)}
              download
              leftSection={<Icon name="download" size={14} />}
            >
              {t("runs.page.records")}
            </Menu.Item>
          )}
          <Menu.Divider />
          <Menu.Item
            className={classes.danger ?? ""}
            leftSection={<Icon name="trash" size={14} />}
            onClick={() => setOpen("delete")}
          >
            {t("action.delete")}…
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {open === "share" && <ShareRun run={run} onClose={close} />}
      {open === "export" && <ExportRun run={run} onClose={close} />}
      {open === "edit" && <EditRun run={run} onClose={close} />}
      {open === "delete" && <DeleteRun run={run} onClose={close} />}
    </div>
  );
}
