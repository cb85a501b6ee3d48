import { useTranslation } from "react-i18next";
import type { Comparison } from "@/api/compare/types";
import { SeriesMarker } from "@/charts/legend/legend";
import { Dim } from "@/ui/text/text";
import classes from "../compare.module.css";
import { OpinionMark } from "../opinion-mark";

/** What each group is against the base, in a sentence, and how sure that is. */
export function Headlines({ data, slots }: { data: Comparison; slots: ReadonlyMap<string, number> }) {
  const { t } = useTranslation();
  const several = data.headlines.length > 1;
  return (
    <section aria-label={t("compare.headline")} className={classes.headlines}>
      {data.headlines.map(({ group, text, opinion, grade }) => {
        const label = data.groups.find(({ id }) => id === group)?.label ?? group;
        return (
          <div key={group} className={classes.headline}>
            {several && (
              <p className={classes.headlineOf}>
                <SeriesMarker series={{ id: group, name: label, values: [] }} slot={slots.get(group) ?? 0} /> {label}
              </p>
            )}
            <p className={several ? classes.sentenceSmall : classes.sentence}>{text}</p>
            <p className={classes.headlineGrade}>
              <OpinionMark
                opinion={opinion}
                grade={grade}
                {...(opinion === "neutral" && { label: t("compare.mixed") })}
              />
              {grade !== null && <Dim>{t(`compare.gradeHint_${grade}`)}</Dim>}
            </p>
          </div>
        );
      })}
    </section>
  );
}
