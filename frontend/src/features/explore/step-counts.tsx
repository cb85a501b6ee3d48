import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { countsQuery } from "@/api/explore/queries";
import { useView } from "@/lib/view/context";
import { Section } from "@/ui/page/section";
import { Hint } from "@/ui/text/text";
import classes from "./explore.module.css";
import { MOST_STEPS, stepsOf } from "./expression-steps";

/** How many series each part of the expression has at the end of the range: the innermost part without any is why there are none. */
export function StepCounts({ expression }: { expression: string }) {
  const { t } = useTranslation();
  const { range, pausedAt } = useView();
  const steps = stepsOf(expression);
  const questions = steps.map(({ question }) => question);
  const counts = useQuery(countsQuery(questions, range, pausedAt));
  const text = (count: number | null = null) =>
    count === null ? t("explore.uncounted") : t("explore.seriesCount", { count });
  return (
    <Section title={t("explore.why")} aside={t("explore.whyHint")}>
      <ul className={classes.steps} aria-busy={counts.isPending}>
        {steps.map(({ text: part, depth, question }, place) => (
          <li key={question} data-none={counts.data?.[place] === 0} style={{ paddingInlineStart: `${depth}rem` }}>
            <code>{part}</code>
            <span>{counts.isPending ? "…" : text(counts.data?.[place])}</span>
          </li>
        ))}
      </ul>
      {steps.length === MOST_STEPS && <Hint>{t("explore.whyBounded", { count: MOST_STEPS })}</Hint>}
    </Section>
  );
}
