import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import type { ProfileFunction, ProfileView } from "@/api/profiles/types";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { SortHead, sortOrder, Table } from "@/ui/list/table";
import { Section } from "@/ui/page/section";
import { Hint, TextButton } from "@/ui/text/text";
import pageClasses from "../page/run-page.module.css";
import { Delta } from "./delta";
import { type FunctionField, filterFunctions, formatOf, sortFunctions } from "./model";
import classes from "./profiles.module.css";

const PAGE = 30;

/** Functions with what they took: what the flame graph shows, for reading. */
export function FunctionTable({ view, search }: { view: ProfileView; search: string }) {
  const { t } = useTranslation();
  const two = view.base_total !== null;
  const [chosen, setChosen] = useState<{ field: FunctionField; descending: boolean } | null>(null);
  const sort = chosen ?? { field: two ? ("change" as const) : ("flat" as const), descending: true };
  const [count, setCount] = useState(PAGE);
  const rows = useMemo(
    () => sortFunctions(filterFunctions(view.functions, search), sort.field, sort.descending),
    [view, search, sort.field, sort.descending],
  );
  const fields: readonly FunctionField[] = two ? ["name", "flat", "change", "cum"] : ["name", "flat", "cum"];
  const pick = (field: FunctionField) =>
    setChosen({ field, descending: sort.field === field ? !sort.descending : field !== "name" });
  return (
    <Section id="functions" title={t("profiles.functions")}>
      <Table label={t("profiles.functionTable")} bare className={pageClasses.table}>
        <thead>
          <tr>
            {fields.map((field) => (
              <SortHead
                key={field}
                order={sortOrder(sort.field === field, sort.descending)}
                number={field !== "name"}
                onSort={() => pick(field)}
              >
                {t(field === "name" ? "profiles.function" : `profiles.${field}`)}
              </SortHead>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, count).map((row) => (
            <Row key={row.name} row={row} view={view} />
          ))}
        </tbody>
      </Table>
      {rows.length === 0 && <Hint>{t("profiles.noFunction")}</Hint>}
      {rows.length > count && (
        <TextButton onClick={() => setCount(count + 5 * PAGE)}>
          {t("profiles.more", { shown: count, total: rows.length })}
        </TextButton>
      )}
    </Section>
  );
}

function Row({ row, view }: { row: ProfileFunction; view: ProfileView }) {
  const locale = useLocale();
  const format = formatOf(view.type.unit, locale);
  const share = (value: number) => formatValue(view.total ? value / view.total : 0, "ratio", locale);
  return (
    <tr>
      <th scope="row" className={classes.name} title={row.file}>
        {row.name}
        {row.words !== null && <span className={classes.words}>{row.words}</span>}
      </th>
      <td data-number>
        {format(row.flat)} <span data-dim="true">{share(row.flat)}</span>
      </td>
      {view.base_total !== null && (
        <td data-number>
          <Delta value={row.flat} base={row.base_flat ?? 0} format={format} />
        </td>
      )}
      <td data-number>
        {format(row.cum)} <span data-dim="true">{share(row.cum)}</span>
      </td>
    </tr>
  );
}
