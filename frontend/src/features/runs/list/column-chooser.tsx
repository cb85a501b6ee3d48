import { Button, Checkbox, Popover } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { runFacetsQuery } from "@/api/runs/queries";
import { Icon } from "@/ui/icon";
import { TextButton } from "@/ui/text/text";
import { ALWAYS, COLUMNS, parameterColumn, toggleColumn, USUAL } from "./columns";
import classes from "./runs-page.module.css";

const MOST_PARAMETERS = 30;

interface Props {
  readonly columns: readonly string[];
  readonly onChange: (columns: readonly string[]) => void;
}

/** Which columns the list has, parameters among them; the address holds the choice. */
export function ColumnChooser({ columns, onChange }: Props) {
  const { t } = useTranslation();
  const facets = useQuery(runFacetsQuery);
  const parameters = (facets.data?.parameters ?? []).slice(0, MOST_PARAMETERS).map(({ value }) => value);
  const box = (id: string, label: string) => (
    <Checkbox
      key={id}
      size="xs"
      label={label}
      checked={columns.includes(id)}
      onChange={() => onChange(toggleColumn(columns, id))}
    />
  );
  return (
    <Popover position="bottom-end" shadow="md" trapFocus returnFocus width={260}>
      <Popover.Target>
        <Button variant="default" size="sm" leftSection={<Icon name="menu" size={14} />}>
          {t("runs.columns")}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={t("runs.columns")} className={classes.columns ?? ""}>
        {COLUMNS.filter(({ id }) => !ALWAYS.includes(id)).map(({ id }) => box(id, t(`runs.column_${id}`)))}
        {parameters.length > 0 && <p className={classes.columnsPart}>{t("runs.columnsOfParameters")}</p>}
        {parameters.map((name) => box(parameterColumn(name), name))}
        <TextButton onClick={() => onChange(USUAL)}>{t("runs.columnsUsual")}</TextButton>
      </Popover.Dropdown>
    </Popover>
  );
}
