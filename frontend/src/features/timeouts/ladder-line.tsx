import type { CSSProperties } from "react";
import { useTranslation } from "react-i18next";
import type { TimeoutRung } from "@/api/timeouts/types";
import type { LadderRow } from "./model/ladder";
import classes from "./timeouts.module.css";

/** From here on the value stands before the end of its line, not behind it. */
const FAR_SHARE = 0.7;
const SHOWN_NAMES = 2;

/** One timeout: its name, a line as long as it lasts, and where its value is known from. */
export function LadderLine({ row }: { row: LadderRow }) {
  const { t } = useTranslation();
  const { rung } = row;
  const state =
    rung === null ? "unknown" : !rung.in_force ? "overruled" : row.faults.length > 0 ? "fault" : ("known" as const);
  return (
    <li className={classes.row} data-state={state}>
      <div className={classes.label}>
        <span className={classes.kind}>{row.title}</span>
        {row.faults.map(({ number, severity }) => (
          <a
            key={number}
            className={classes.badge}
            data-severity={severity}
            href={`#fault-${number}`}
            title={t("timeouts.toFault", { number })}
          >
            <span className="lw-visually-hidden">{t("timeouts.fault", { number })}</span>
            <span aria-hidden="true">{number}</span>
          </a>
        ))}
        {rung !== null && rung.names.length > 0 && <Names names={rung.names} />}
      </div>
      <div className={classes.track}>
        <span
          className={classes.line}
          data-end={rung === null ? "none" : rung.seconds === null || rung.at_least ? "open" : "closed"}
          style={{ "--x": `${(row.position ?? 1) * 100}%` } as CSSProperties}
        />
        <span
          className={classes.value}
          data-far={(row.position ?? 0) > FAR_SHARE}
          style={{ "--x": `${(row.position ?? 0) * 100}%` } as CSSProperties}
        >
          {rung === null ? t("timeouts.unknown") : rung.text}
        </span>
      </div>
      <div className={classes.said}>{rung !== null && <Said rung={rung} />}</div>
    </li>
  );
}

function Names({ names }: { names: readonly string[] }) {
  const { t } = useTranslation();
  const more = names.length - SHOWN_NAMES;
  return (
    <span className={classes.names} title={names.join(", ")}>
      {names.slice(0, SHOWN_NAMES).join(", ")}
      {more > 0 && ` ${t("timeouts.more", { count: more })}`}
    </span>
  );
}

function Said({ rung }: { rung: TimeoutRung }) {
  const { t } = useTranslation();
  return (
    <>
      {rung.said.map(({ origin, field }) => (
        <span key={`${origin} ${field}`} className={classes.origin}>
          {t(`timeouts.origin_${origin}`)} <code title={field}>{field}</code>
        </span>
      ))}
      {!rung.in_force && <span className={classes.origin}>{t("timeouts.overruled")}</span>}
    </>
  );
}
