import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import type { ActionScore } from "@/api/runs/types";
import { useLocale } from "@/lib/use-locale";
import { StateMark } from "@/ui/state-mark";
import { Disclosure } from "@/ui/text/disclosure";
import { Dim } from "@/ui/text/text";
import classes from "./actions.module.css";
import { SCORE_TONES, scoreWords } from "./score-words";

/** How later runs scored an action: the newest, and the others for who wants them. */
export function ScoreList({ scores }: { scores: readonly ActionScore[] }) {
  const { t } = useTranslation();
  const [newest, ...others] = scores;
  if (newest === undefined) return null;
  return (
    <div className={classes.scores}>
      <Score score={newest} />
      {others.length > 0 && (
        <Disclosure summary={t("actions.more", { count: others.length })}>
          <ul>
            {others.map((score) => (
              <li key={score.run}>
                <Score score={score} />
              </li>
            ))}
          </ul>
        </Disclosure>
      )}
    </div>
  );
}

function Score({ score }: { score: ActionScore }) {
  const { t } = useTranslation();
  return (
    <p className={classes.score}>
      <ScoreMark score={score} />{" "}
      <Link to={`/runs/${score.run}`}>{t("actions.scoredBy", { run: score.run_name || score.run })}</Link>{" "}
      <ScoreWords score={score} />
    </p>
  );
}

export function ScoreMark({ score }: { score: ActionScore }) {
  const { t } = useTranslation();
  return <StateMark tone={SCORE_TONES[score.state]} label={t(`actions.score_${score.state}`)} />;
}

export function ScoreWords({ score }: { score: ActionScore }) {
  const { t } = useTranslation();
  return <Dim>{scoreWords(score, t, useLocale()).join(" · ")}</Dim>;
}
