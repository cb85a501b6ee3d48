import { useTranslation } from "react-i18next";
import type { Finding } from "@/api/findings/types";
import { Dim } from "@/ui/text/text";
import classes from "./findings.module.css";
import { type Edge, edgesOf } from "./model";
import { type FindingTimes, useWords } from "./words";

const ROW = 34;
const LANE = 11;
const EDGE = 6;

interface Props {
  readonly findings: readonly Finding[];
  /** Places of the direct causes of each. */
  readonly causes: readonly (readonly number[])[];
  readonly times: FindingTimes;
  readonly onOpen: (key: string) => void;
}

/** Which finding follows from which: one line each, arrows from a cause to what follows from it. */
export function CauseChain({ findings, causes, times, onOpen }: Props) {
  const { t } = useTranslation();
  const words = useWords();
  const edges = edgesOf(causes);
  if (edges.length === 0) return null;
  const lanes = Math.max(...edges.map(({ lane }) => lane));
  const x = EDGE + lanes * LANE + EDGE;
  const width = x + EDGE + 4;
  return (
    <div className={classes.chain}>
      <svg className={classes.rail} width={width} height={findings.length * ROW} aria-hidden="true">
        {edges.map((edge) => (
          <g key={`${edge.from} ${edge.to}`}>
            <path className={classes.arrow} d={arrowPath(edge, x)} />
            <path className={classes.tip} d={tipPath(edge, x)} />
          </g>
        ))}
        {findings.map(({ key, severity }, place) => (
          <circle key={key} className={classes.dot} data-severity={severity} cx={x} cy={middle(place)} r="5" />
        ))}
      </svg>
      <ol className={classes.chainList} aria-label={t("findings.chain")}>
        {findings.map((finding, place) => (
          <li key={finding.key} className={classes.chainItem}>
            <button type="button" onClick={() => onOpen(finding.key)}>
              {words(finding.title)}
              {(causes[place] ?? []).length > 0 && (
                <span className="lw-visually-hidden">
                  {" "}
                  {t("findings.causeOf", { causes: titles(causes[place] ?? []) })}
                </span>
              )}
            </button>
            <Dim>{times.brief(finding.from_ms)}</Dim>
          </li>
        ))}
      </ol>
    </div>
  );

  function titles(places: readonly number[]): string {
    return places.map((place) => (findings[place] === undefined ? "" : words(findings[place].title))).join(", ");
  }
}

const middle = (place: number) => place * ROW + ROW / 2;

/** Straight down to the next line, else around what lies between. */
function arrowPath({ from, to, lane }: Edge, x: number): string {
  const start = middle(from) + 5;
  const end = middle(to) - 9;
  if (lane === 0) return `M${x},${start}V${end}`;
  const out = x - EDGE - lane * LANE;
  return `M${x - 4},${middle(from) + 2}C${out},${start + 6} ${out},${start + 6} ${out},${start + 14}V${middle(to) - 12}C${out},${middle(to)} ${out},${middle(to)} ${x - 9},${middle(to)}`;
}

function tipPath({ to, lane }: Edge, x: number): string {
  return lane === 0 ? `M${x},${middle(to) - 5.5}l-3.5,-5h7Z` : `M${x - 5.5},${middle(to)}l-5,-3.5v7Z`;
}
