import { type CSSProperties, useEffect, useId, useState } from "react";
import { useTranslation } from "react-i18next";
import { useLiveFindings } from "@/panels/findings/use-live-findings";
import { faultText } from "@/ui/fault/problem";
import { inHeldOrder, useHeldOrder } from "@/ui/list/held-order";
import { Loading } from "@/ui/loading";
import { TextButton } from "@/ui/text/text";
import classes from "./headroom.module.css";
import { InstanceLine, LimitLine } from "./limit-line";
import { type LimitRow, limitRows, MOST_LINES, settledOrder } from "./limit-rows";
import { NearestLimit } from "./nearest-limit";
import { rememberRoom, roomBefore } from "./room";
import { useHeadroom } from "./use-headroom";
import { useLimitWords } from "./use-limit-words";

const HEIGHT = 148;
const keyOf = ({ resource }: LimitRow) => resource;

/** The nearest limit as what is read first, all others as a thin table beside it. */
export function Headroom() {
  const { t } = useTranslation();
  const words = useLimitWords();
  const { data, error, isPending, atMs } = useHeadroom();
  const rows = limitRows(data?.resources ?? [], useLiveFindings().data);
  const [settled, settle] = useState(() => settledOrder(rows, []));
  const next = settledOrder(rows, settled);
  if (next !== settled) settle(next);
  const [held, hold] = useHeldOrder(next);
  const [first, ...others] = inHeldOrder(rows, held ?? next, keyOf);
  const [room] = useState(() => Math.min(roomBefore() ?? MOST_LINES, MOST_LINES));
  useEffect(() => {
    if (rows.length > 0) rememberRoom(rows.length - 1);
  }, [rows.length]);
  return (
    <section
      className={classes.section}
      style={{ "--lines": room } as CSSProperties}
      aria-label={t("headroom.title")}
      {...hold}
    >
      <h2 className="lw-visually-hidden">{t("headroom.title")}</h2>
      {error !== null && data === undefined && (
        <p className={classes.error} role="alert">
          {t("headroom.failed")}: {error.message === "offline" ? t("error.offline") : faultText(error, t)}
        </p>
      )}
      {isPending && error === null && <Awaited lines={room} />}
      {data !== undefined && first === undefined && (
        <p className={classes.none}>
          <strong>{t("headroom.none")}.</strong> {t("headroom.noneHint")}
        </p>
      )}
      {first !== undefined && (
        <Limits
          first={first}
          others={others}
          nowMs={data?.at_ms ?? 0}
          old={error !== null}
          label={
            held !== null
              ? t("headroom.held")
              : atMs !== null || (error !== null && data !== undefined)
                ? t("headroom.at", { time: words.instant(atMs ?? data?.at_ms ?? 0) })
                : t("headroom.nearest")
          }
        />
      )}
    </section>
  );
}

/** The room that limits took when they were last seen. */
function Awaited({ lines }: { lines: number }) {
  const { t } = useTranslation();
  return (
    <>
      <div className={classes.limits} role="status" aria-label={t("headroom.loading")}>
        <Loading height={HEIGHT} />
        {lines > 0 && <div className={classes.lines} />}
      </div>
      <div className={classes.more} />
    </>
  );
}

interface LimitsProps {
  readonly first: LimitRow;
  readonly others: readonly LimitRow[];
  readonly nowMs: number;
  /** The server does not answer: these are the last that are known. */
  readonly old: boolean;
  /** What stands above the first. */
  readonly label: string;
}

function Limits({ first, others, nowMs, old, label }: LimitsProps) {
  const { t } = useTranslation();
  const instances = useId();
  const [all, setAll] = useState(false);
  const [opened, setOpened] = useState<string | null>(null);
  const open = [first, ...others].find(({ resource }) => resource === opened);
  const shown = all ? others : others.slice(0, MOST_LINES);
  const fleet = first.entries.length > 1;
  return (
    <>
      <div className={classes.limits} data-old={old}>
        <NearestLimit row={first} nowMs={nowMs} label={label} />
        {others.length > 0 && (
          <ul className={classes.lines} aria-label={t("headroom.others")} data-rows={Math.ceil(shown.length / 2)}>
            {shown.map((row) => (
              <LimitLine
                key={row.resource}
                row={row}
                nowMs={nowMs}
                open={row.resource === opened}
                controls={instances}
                onOpen={(on) => setOpened(on ? row.resource : null)}
              />
            ))}
          </ul>
        )}
      </div>
      <div className={classes.more}>
        {fleet && (
          <TextButton
            aria-expanded={opened === first.resource}
            aria-controls={instances}
            onClick={() => setOpened(opened === first.resource ? null : first.resource)}
          >
            {t("headroom.openInstances", { title: first.title, count: first.entries.length })}
          </TextButton>
        )}
        {others.length > MOST_LINES && (
          <TextButton aria-expanded={all} onClick={() => setAll(!all)}>
            {all ? t("headroom.less") : t("headroom.all", { count: others.length + 1 })}
          </TextButton>
        )}
      </div>
      <div id={instances}>
        {open !== undefined && (
          <ul className={classes.instances} aria-label={t("headroom.instances", { title: open.title })}>
            {open.entries
              .toSorted((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }))
              .map((entry) => (
                <InstanceLine key={JSON.stringify(entry.labels)} entry={entry} nowMs={nowMs} />
              ))}
          </ul>
        )}
      </div>
    </>
  );
}
