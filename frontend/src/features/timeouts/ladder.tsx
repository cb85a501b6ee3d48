import type { CSSProperties } from "react";
import { useTranslation } from "react-i18next";
import { formatDuration } from "@/lib/time/time";
import { useLocale } from "@/lib/use-locale";
import { LadderLine } from "./ladder-line";
import { type Depth, type Join, type LadderView, position } from "./model/ladder";
import classes from "./timeouts.module.css";

/** All timeouts of a path: layers from the client down to the database, one axis of time for all. */
export function Ladder({ view }: { view: LadderView }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const ticks = view.axis.ticks.map((tick) => ({
    share: position(tick, view.axis),
    text: formatDuration(tick * 1000, locale),
  }));
  return (
    <section className={classes.ladder} aria-label={t("timeouts.ladder")}>
      <div className={classes.overlay} aria-hidden="true">
        {ticks.map(({ share, text }, index) => (
          <span key={text} className={classes.tick} data-odd={index % 2 === 1} style={at(share)}>
            {text}
          </span>
        ))}
        <span className={classes.tick} data-last="true" style={at(1)}>
          ∞
        </span>
        {view.joins.map((join) => (
          <JoinMark key={join.number} join={join} />
        ))}
      </div>
      {view.layers.map((layer) => (
        <div key={layer.layer}>
          <h2 className={classes.layerTitle}>{layer.title}</h2>
          <ul>
            {layer.rows.map((row) => (
              <LadderLine key={row.key} row={row} />
            ))}
          </ul>
        </div>
      ))}
    </section>
  );
}

/** What a wrong pair looks like: how much too long the one is, and the fall to the other's end. */
function JoinMark({ join }: { join: Join }) {
  const first = isAbove(join.lateAt, join.earlyAt) ? join.lateAt : join.earlyAt;
  const last = first === join.lateAt ? join.earlyAt : join.lateAt;
  const left = Math.min(join.early, join.late);
  const style = {
    "--from": top(first),
    "--to": top(last),
    "--excess-at": top(join.lateAt),
    "--x": `${join.early * 100}%`,
    "--left": `${left * 100}%`,
    "--width": `${Math.abs(join.late - join.early) * 100}%`,
  } as CSSProperties;
  return (
    <span className={classes.join} data-severity={join.severity} style={style}>
      <span className={classes.excess} />
      <span className={classes.fall} />
    </span>
  );
}

function isAbove(one: Depth, other: Depth): boolean {
  return one.rows <= other.rows;
}

function top({ heads, rows }: Depth): string {
  return `calc(var(--axis) + ${heads} * var(--head) + ${rows} * var(--row) + var(--bar))`;
}

function at(share: number): CSSProperties {
  return { insetInlineStart: `${share * 100}%` };
}
