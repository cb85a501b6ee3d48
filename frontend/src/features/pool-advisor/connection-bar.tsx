import type { TFunction } from "i18next";
import type { CSSProperties } from "react";
import { useTranslation } from "react-i18next";
import type { Bar, Part } from "./model/bars";
import classes from "./pool-advisor.module.css";

const NAMES = { now: "pools.barNow", needed: "pools.barNeeded", advised: "pools.barAdvised" } as const;
/** Colours of series that stand beside each other. */
const COLOURS = 6;

/** One bar of a database's connections, with all that it says in words below it. */
export function ConnectionBar({ bar }: { bar: Bar }) {
  const { t } = useTranslation();
  const named = bar.parts.map((part) => ({ ...part, text: partText(part, t) }));
  return (
    <figure className={classes.bar}>
      <figcaption>
        {t(NAMES[bar.id])}
        {bar.tooMany > 0 && <strong className={classes.tooMany}>{t("pools.tooMany", { count: bar.tooMany })}</strong>}
      </figcaption>
      <div className={classes.track} aria-hidden="true">
        {bar.parts.map((part) => (
          <span key={part.key} className={classes.part} data-kind={part.kind} style={look(part)} />
        ))}
        <span className={classes.limit} style={{ insetInlineStart: `${bar.limit * 100}%` }} />
      </div>
      <ul className={classes.legend}>
        {named.map((part) => (
          <li key={part.key}>
            <span className={classes.swatch} data-kind={part.kind} style={look(part)} aria-hidden="true" />
            {part.text}
          </li>
        ))}
      </ul>
    </figure>
  );
}

function look({ kind, place, share }: Part): CSSProperties {
  const colour = kind === "pool" && { "--part": `var(--lw-series-${(place % COLOURS) + 1})` };
  return { ...colour, "--share": share } as CSSProperties;
}

function partText({ kind, name, count }: Part, t: TFunction): string {
  const title = kind === "pool" ? name : t(`pools.${kind}`);
  return t("pools.part", { name: title, count });
}
