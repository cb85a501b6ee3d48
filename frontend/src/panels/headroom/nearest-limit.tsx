import { useTranslation } from "react-i18next";
import { HeadroomBar } from "@/charts/bars/headroom-bar";
import { Sparkline } from "@/charts/bars/sparkline";
import { useLocale } from "@/lib/use-locale";
import { formatShare } from "@/lib/view/share";
import classes from "./headroom.module.css";
import { LimitState } from "./limit-marks";
import type { LimitRow } from "./limit-rows";
import { useLimitWords } from "./use-limit-words";

interface Props {
  readonly row: LimitRow;
  readonly nowMs: number;
  readonly label: string;
}

/** The nearest limit: what is left of it in large type, how it went, and where it goes. */
export function NearestLimit({ row, nowMs, label }: Props) {
  const { t } = useTranslation();
  const locale = useLocale();
  const words = useLimitWords();
  const { worst } = row;
  const beside = [words.outlook(worst, row), words.asOf(worst, nowMs)].filter((text) => text !== null);
  return (
    <div className={classes.hero} data-state={worst.state === "full" ? "near" : worst.state} data-limit={row.resource}>
      <p className={classes.heroLabel}>{label}</p>
      <div className={classes.heroHead}>
        <strong className={classes.heroTitle} title={row.title}>
          {row.title}
        </strong>
        <LimitState key={worst.state} entry={worst} />
      </div>
      <p className={classes.heroName} title={words.fleet(row)}>
        {words.fleet(row)}
      </p>
      <div className={classes.heroFigures}>
        <strong className={classes.number}>{t("headroom.left", { headroom: formatShare(worst.headroom) })}</strong>
        <Sparkline values={worst.history} width={132} height={34} max={1} bound={1} />
      </div>
      <HeadroomBar
        ratio={worst.limit > 0 ? worst.used / worst.limit : null}
        state={worst.state === "full" ? "near" : worst.state}
        nearAt={worst.near}
        label={`${row.title} ${worst.name}`}
        locale={locale}
      />
      <p className={classes.heroFoot}>
        <span>{words.used(worst)}</span>
        {/* Other words are another element: they begin elsewhere, and have not moved. */}
        <span key={beside.join(" · ")} className={classes.outlook}>
          {beside.join(" · ")}
        </span>
      </p>
    </div>
  );
}
