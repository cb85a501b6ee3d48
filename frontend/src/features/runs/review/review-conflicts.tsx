import { Button } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { Icon } from "@/ui/icon";
import { Dim, Hint } from "@/ui/text/text";
import type { ReviewConflict, ReviewDraft, ReviewField, ReviewText } from "../model/review";
import { wordsOf } from "./actions/merge-actions";
import classes from "./review.module.css";

interface Props {
  readonly draft: ReviewDraft;
  readonly onChoose: (field: ReviewField, side: "mine" | "theirs" | "both") => void;
}

/** Fields that somebody else changed at the same time: both texts, and the choice. */
export function ReviewConflicts({ draft, onChoose }: Props) {
  const { t } = useTranslation();
  if (draft.conflicts.length === 0) return null;
  return (
    <section className={classes.conflicts} role="alert" aria-label={t("runs.review.conflictTitle")}>
      <p className={classes.conflictTitle}>
        <Icon name="warning" size={15} />
        {t("runs.review.conflictTitle")}
      </p>
      <Hint>{t("runs.review.conflictHint")}</Hint>
      {draft.conflicts.map((conflict) => (
        <Conflict key={conflict.field} conflict={conflict} mine={draft.text} onChoose={onChoose} />
      ))}
    </section>
  );
}

interface ConflictProps {
  readonly conflict: ReviewConflict;
  readonly mine: ReviewText;
  readonly onChoose: Props["onChoose"];
}

function Conflict({ conflict, mine, onChoose }: ConflictProps) {
  const { t } = useTranslation();
  const { field, theirs, author } = conflict;
  const name = t(`runs.review.field_${field}`);
  return (
    <div className={classes.conflict}>
      <div className={classes.side}>
        <Dim>
          {t("runs.review.side", {
            field: name,
            side: author === "" ? t("runs.review.theirs") : t("runs.review.by", { author }),
          })}
        </Dim>
        <pre>{fieldText(theirs, field) || t("runs.review.blank")}</pre>
        <Button size="compact-xs" variant="default" onClick={() => onChoose(field, "theirs")}>
          {t("runs.review.takeTheirs")}
        </Button>
      </div>
      <div className={classes.side}>
        <Dim>{t("runs.review.side", { field: name, side: t("runs.review.mine") })}</Dim>
        <pre>{fieldText(mine, field) || t("runs.review.blank")}</pre>
        <span className={classes.choices}>
          <Button size="compact-xs" variant="default" onClick={() => onChoose(field, "mine")}>
            {t("runs.review.keepMine")}
          </Button>
          <Button size="compact-xs" variant="default" onClick={() => onChoose(field, "both")}>
            {t("runs.review.keepBoth")}
          </Button>
        </span>
      </div>
    </div>
  );
}

/** A field as plain text, a line for each of its entries. */
export function fieldText(text: ReviewText, field: ReviewField): string {
  const value = text[field];
  if (typeof value === "string") return value;
  return value
    .map((item) =>
      typeof item === "string"
        ? item
        : ("id" in item ? wordsOf(item).slice(1) : [item.expression, item.note]).filter(Boolean).join(" – "),
    )
    .join("\n");
}
