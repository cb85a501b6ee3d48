import { useTranslation } from "react-i18next";
import type { CheckedCollector } from "@/api/connect/types";
import { useLocale } from "@/lib/use-locale";
import { CommandLine } from "@/ui/command-line";
import { useReasonText } from "@/ui/fault/reason";
import { StateMark } from "@/ui/state-mark";
import { Hint } from "@/ui/text/text";
import classes from "./connect.module.css";

const MOST_SHOWN = 4;

/** What `loadwatch check` says of each collector of the lines. */
export function CheckAnswer({ collectors }: { collectors: readonly CheckedCollector[] }) {
  const { t } = useTranslation();
  const say = useReasonText();
  return (
    <ul className={classes.answers} aria-label={t("connect.answer")}>
      {collectors.map((one) => (
        <li key={one.collector}>
          <p className={classes.answerHead}>
            <StateMark
              tone={one.error === null ? "ok" : "bad"}
              label={t(one.error === null ? "connect.works" : "connect.fails", { collector: one.collector })}
            />
            {one.error === null && <Cost collector={one} />}
          </p>
          {one.error !== null && <p className={classes.said}>{say(one.error)}</p>}
          {one.shown.length > 0 && one.error === null && (
            <ul className={classes.shown}>
              {one.shown.slice(0, MOST_SHOWN).map(({ series, value }) => (
                <li key={series}>
                  <code>
                    {series} = {value ?? "NaN"}
                  </code>
                </li>
              ))}
            </ul>
          )}
          {[...one.notes, ...one.exposed].map((note) => (
            <Hint key={note}>{note}</Hint>
          ))}
          {one.missing.map(({ permission, lost, remedy }) => (
            <div key={permission}>
              <p className={classes.said}>{t("connect.lacks", { permission, lost })}</p>
              <CommandLine text={remedy} />
            </div>
          ))}
        </li>
      ))}
    </ul>
  );
}

function Cost({ collector }: { collector: CheckedCollector }) {
  const { t } = useTranslation();
  const share = new Intl.NumberFormat(useLocale(), { style: "percent", maximumFractionDigits: 2 });
  return (
    <span className={classes.cost}>
      {t("connect.sees", { count: collector.samples, share: share.format(collector.cpu_share) })}
    </span>
  );
}
