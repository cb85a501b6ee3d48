import { Button } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { Icon } from "@/ui/icon";
import { Dim } from "@/ui/text/text";
import { comparePath, MOST_COMPARED } from "./list-state";
import classes from "./runs-page.module.css";

/** What can be done with the runs that are ticked. */
export function SelectionBar({ selected, onClear }: { selected: readonly string[]; onClear: () => void }) {
  const { t } = useTranslation();
  if (selected.length === 0) return null;
  return (
    <section className={classes.selection} aria-label={t("runs.selection")}>
      <span aria-live="polite">
        {t("runs.selected", { count: selected.length })}
        {selected.length === 1 && <Dim> {t("runs.selectMore")}</Dim>}
        {selected.length >= MOST_COMPARED && <Dim> {t("runs.selectFull")}</Dim>}
      </span>
      <Button variant="subtle" color="gray" size="xs" onClick={onClear}>
        {t("action.clear")}
      </Button>
      {selected.length > 1 && (
        <Button component={Link} to={comparePath(selected)} size="xs" leftSection={<Icon name="compare" size={14} />}>
          {t("runs.compare")}
        </Button>
      )}
    </section>
  );
}
