import { Button } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { Icon } from "@/ui/icon";
import { Hint } from "@/ui/text/text";
import type { ReviewEvent, SavedReview } from "../model/review";
import classes from "./review.module.css";

interface Props {
  readonly theirs: SavedReview;
  readonly onChoose: (event: ReviewEvent) => void;
}

/** Somebody else saved while something was typed here. */
export function ReviewConflict({ theirs, onChoose }: Props) {
  const { t } = useTranslation();
  return (
    <section className={classes.conflicts} role="alert" aria-label={t("runs.review.state_conflict")}>
      <p className={classes.conflictTitle}>
        <Icon name="warning" size={15} />
        {theirs.author === "" ? t("runs.review.state_conflict") : t("runs.review.changedBy", { author: theirs.author })}
      </p>
      <Hint>{t("runs.review.conflictHint")}</Hint>
      <span className={classes.choices}>
        <Button size="compact-xs" variant="default" onClick={() => onChoose({ kind: "reload" })}>
          {t("runs.review.reload")}
        </Button>
        <Button size="compact-xs" variant="default" onClick={() => onChoose({ kind: "overwrite" })}>
          {t("runs.review.overwrite")}
        </Button>
      </span>
    </section>
  );
}
