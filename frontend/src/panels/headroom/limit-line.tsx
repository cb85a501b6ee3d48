import { useTranslation } from "react-i18next";
import { HeadroomBar } from "@/charts/bars/headroom-bar";
import { useLocale } from "@/lib/use-locale";
import { formatShare } from "@/lib/view/share";
import classes from "./headroom.module.css";
import { LimitSign } from "./limit-marks";
import type { Limit, LimitRow } from "./limit-rows";
import { useLimitWords } from "./use-limit-words";

interface Props {
  readonly row: LimitRow;
  readonly nowMs: number;
  readonly open: boolean;
  /** Id of the list of instances. */
  readonly controls: string;
  readonly onOpen: (open: boolean) => void;
}

/** One resource: its worst instance, and the way to all of them. */
export function LimitLine({ row, nowMs, open, controls, onOpen }: Props) {
  const { t } = useTranslation();
  const words = useLimitWords();
  const { worst, entries } = row;
  const more = [words.used(worst), words.outlook(worst, row)];
  const name = [words.fleet(row), words.asOf(worst, nowMs)].filter((text) => text !== null).join(" · ");
  return (
    <li className={classes.line} data-state={worst.state} data-limit={row.resource}>
      <LimitSign entry={worst} />
      {entries.length > 1 ? (
        <button
          type="button"
          className={classes.lineTitle}
          aria-expanded={open}
          aria-controls={controls}
          title={t("headroom.openInstances", { title: row.title, count: entries.length })}
          onClick={() => onOpen(!open)}
        >
          {row.title}
        </button>
      ) : (
        <span className={classes.lineTitle} title={row.title}>
          {row.title}
        </span>
      )}
      <span className={classes.lineName} title={name} data-fleet={entries.length > 1}>
        {name}
      </span>
      {entries.length === 1 && <span className={classes.lineUsed}>{words.used(worst)}</span>}
      <LimitFigures entry={worst} title={more.filter((text) => text !== null).join(" · ")} />
    </li>
  );
}

/** One instance of a resource. */
export function InstanceLine({ entry, nowMs }: { entry: Limit; nowMs: number }) {
  const words = useLimitWords();
  const name = [entry.name, words.asOf(entry, nowMs)].filter((text) => text !== null).join(" · ");
  return (
    <li className={classes.line} data-state={entry.state === "full" ? "near" : entry.state} data-instance={entry.name}>
      <LimitSign entry={entry} />
      <span className={classes.lineTitle} title={name}>
        {name}
      </span>
      <span className={classes.lineUsed}>{words.used(entry)}</span>
      <LimitFigures entry={entry} title={words.outlook(entry) ?? ""} />
    </li>
  );
}

function LimitFigures({ entry, title }: { entry: Limit; title: string }) {
  const { t } = useTranslation();
  const locale = useLocale();
  return (
    <>
      <span className={classes.lineBar} title={title}>
        <HeadroomBar
          ratio={entry.limit > 0 ? entry.used / entry.limit : null}
          state={entry.state === "full" ? "near" : entry.state}
          nearAt={entry.near}
          label={`${entry.title} ${entry.name}`}
          locale={locale}
        />
      </span>
      <span className={classes.lineLeft}>{t("headroom.left", { headroom: formatShare(entry.headroom) })}</span>
    </>
  );
}
