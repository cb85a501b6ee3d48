import { Button, TextInput } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { Icon } from "@/ui/icon";
import { IconButton } from "@/ui/icon-button";
import type { Expected } from "../model/review";
import classes from "./review.module.css";

const MOST_ROWS = 20;

/** What the team expects: a signal with a figure, and why. */
export function ExpectedRows({
  rows,
  onChange,
}: {
  rows: readonly Expected[];
  onChange: (rows: readonly Expected[]) => void;
}) {
  const { t } = useTranslation();
  const set = (place: number, part: Partial<Expected>) =>
    onChange(rows.map((row, at) => (at === place ? { ...row, ...part } : row)));
  return (
    <fieldset>
      <legend className={classes.label}>{t("runs.review.field_expected")}</legend>
      {rows.map((row, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows have no name of their own and keep their order
        <div key={place} className={classes.expectedRow}>
          <TextInput
            size="sm"
            className={classes.expression ?? ""}
            aria-label={t("runs.review.expression", { place: place + 1 })}
            placeholder="p95<300ms"
            maxLength={200}
            value={row.expression}
            onChange={(event) => set(place, { expression: event.currentTarget.value })}
          />
          <TextInput
            size="sm"
            aria-label={t("runs.review.note", { place: place + 1 })}
            placeholder={t("runs.review.noteHint")}
            maxLength={200}
            value={row.note}
            onChange={(event) => set(place, { note: event.currentTarget.value })}
          />
          <IconButton
            icon="trash"
            label={t("runs.review.removeRow", { place: place + 1 })}
            onClick={() => onChange(rows.filter((_, at) => at !== place))}
          />
        </div>
      ))}
      <Button
        size="compact-xs"
        variant="default"
        disabled={rows.length >= MOST_ROWS}
        leftSection={<Icon name="plus" size={12} />}
        onClick={() => onChange([...rows, { expression: "", note: "" }])}
      >
        {t("runs.review.addRow")}
      </Button>
    </fieldset>
  );
}
