import { Progress } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { formatCount } from "@/lib/run-text";
import { IconButton } from "@/ui/icon-button";
import { StateMark } from "@/ui/state-mark";
import { Dim } from "@/ui/text/text";
import classes from "./import.module.css";
import type { ImportItem } from "./use-imports";

interface Props {
  readonly items: readonly ImportItem[];
  readonly pathOf: (id: string) => string;
  readonly onDismiss: (key: number) => void;
}

const ENDED: readonly ImportItem["phase"][] = ["done", "failed", "cancelled"];

/** How far each file is; what failed says why and what to do. */
export function ImportList({ items, pathOf, onDismiss }: Props) {
  const { t } = useTranslation();
  if (items.length === 0) return null;
  return (
    <ul className={classes.list} aria-label={t("runs.imports")} aria-live="polite">
      {items.map((item) => (
        <li key={item.key} className={classes.item} data-phase={item.phase}>
          <div className={classes.line}>
            <strong className={classes.file}>{item.filename}</strong>
            <ItemState item={item} pathOf={pathOf} />
            <IconButton
              icon="close"
              size={24}
              label={ENDED.includes(item.phase) ? t("runs.dismiss") : t("runs.stopImport")}
              onClick={() => onDismiss(item.key)}
            />
          </div>
          {(item.phase === "sending" || item.phase === "reading") && (
            <Progress
              size="sm"
              value={(item.share ?? 1) * 100}
              animated={item.share === null}
              aria-label={t(`runs.import_${item.phase}`)}
            />
          )}
          {item.problem !== null && <ImportProblem {...item.problem} />}
        </li>
      ))}
    </ul>
  );
}

function ItemState({ item, pathOf }: { item: ImportItem; pathOf: (id: string) => string }) {
  const { t } = useTranslation();
  if (item.phase === "failed") return <StateMark tone="bad" label={t("runs.import_failed")} />;
  if (item.phase === "cancelled") return <StateMark tone="unknown" label={t("runs.import_cancelled")} />;
  if (item.phase === "done") {
    return (
      <>
        <StateMark tone="ok" label={t("runs.import_done")} />
        {item.run !== null && (
          <Link className={classes.open} to={pathOf(item.run)}>
            {t("runs.openRun")}
          </Link>
        )}
      </>
    );
  }
  const percent = item.share === null ? "" : ` ${Math.floor(item.share * 100)}%`;
  return (
    <Dim>
      {t(`runs.import_${item.phase}`)}
      {percent}
      {item.records > 0 && ` · ${t("runs.importRecords", { value: formatCount(item.records) })}`}
    </Dim>
  );
}

function ImportProblem({ code, detail }: { code: string; detail: string }) {
  const { t } = useTranslation();
  const text = code === "offline" ? `${t("error.offline")}. ${t("error.offlineHint")}` : detail === "" ? code : detail;
  return (
    <p className={classes.problem} role="alert">
      {text}
    </p>
  );
}
