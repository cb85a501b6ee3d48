import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import type { ActionScore, Review } from "@/api/runs/types";
import { Dim } from "@/ui/text/text";
import { ActionFacts } from "./action-facts";
import classes from "./actions.module.css";
import { ScoreList, ScoreMark, ScoreWords } from "./score-list";

/** Actions of a review to read, each with what later runs say of it; nothing where there are none. */
export function ReviewActions({ review }: { review: Review }) {
  const actions = review.actions ?? [];
  if (actions.length === 0) return null;
  return (
    <ol className={classes.list}>
      {actions.map((action) => (
        <li key={action.id}>
          <p className={classes.text}>{action.text}</p>
          <ActionFacts action={action} />
          <ScoreList scores={review.standings.find(({ id }) => id === action.id)?.scores ?? []} />
        </li>
      ))}
    </ol>
  );
}

/** What a run says of the actions of runs before it; nothing where it says nothing. */
export function EarlierActions({ scored }: { scored: readonly ActionScore[] }) {
  const { t } = useTranslation();
  if (scored.length === 0) return null;
  return (
    <section className={classes.earlier} aria-label={t("actions.earlier")}>
      <h3>{t("actions.earlier")}</h3>
      <ul className={classes.list}>
        {scored.map((score) => (
          <li key={`${score.of_run} ${score.action}`}>
            <p className={classes.score}>
              <ScoreMark score={score} /> <span className={classes.text}>{score.text}</span>{" "}
              <code>{score.expected}</code> <ScoreWords score={score} />
            </p>
            <p className={classes.score}>
              <Dim>
                <Origin score={score} />
                {score.owner !== "" && ` · ${score.owner}`}
              </Dim>
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Origin({ score }: { score: ActionScore }) {
  const { t } = useTranslation();
  if (score.of_name === null) return t("actions.earlierOf", { run: t("actions.gone") });
  return (
    <Link to={`/runs/${score.of_run}#review`}>{t("actions.earlierOf", { run: score.of_name || score.of_run })}</Link>
  );
}
