import { useTranslation } from "react-i18next";
import { useLocale } from "@/lib/use-locale";
import { useReasonText } from "@/ui/fault/reason";
import { SortHead, sortOrder, Table } from "@/ui/list/table";
import { StateMark } from "@/ui/state-mark";
import { Dim } from "@/ui/text/text";
import { fieldName } from "./field-name";
import { RemoveTarget } from "./remove-target";
import { figures, TONES } from "./target-figures";
import type { Sort, SortField, TargetRow } from "./target-rows";
import classes from "./targets-page.module.css";

const COLUMNS: readonly {
  readonly field: SortField;
  readonly help?: "lagHelp" | "durationHelp" | "costHelp" | "samplesHelp";
}[] = [
  { field: "health" },
  { field: "job" },
  { field: "instance" },
  { field: "collector" },
  { field: "lag", help: "lagHelp" },
  { field: "duration", help: "durationHelp" },
  { field: "cpu", help: "costHelp" },
  { field: "samples", help: "samplesHelp" },
];

export function TargetTable({
  rows,
  sort,
  onSort,
}: {
  rows: readonly TargetRow[];
  sort: Sort;
  onSort: (field: SortField) => void;
}) {
  const { t } = useTranslation();
  const say = useReasonText();
  const locale = useLocale();
  return (
    <Table label={t("targets.title")}>
      <thead>
        <tr>
          {COLUMNS.map(({ field, help }) => (
            <SortHead
              key={field}
              order={sortOrder(sort.field === field, sort.descending)}
              number={help !== undefined}
              title={help && t(`targets.${help}`)}
              onSort={() => onSort(field)}
            >
              {fieldName(field, t)}
            </SortHead>
          ))}
          <th scope="col">{t("targets.error")}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => {
          const text = figures(row, locale);
          return (
            <tr key={row.key} data-health={row.health}>
              <td>
                <StateMark tone={TONES[row.health]} label={t(`targets.state_${row.health}`)} />
              </td>
              <td>{row.job}</td>
              <td>{row.instance}</td>
              <td>{row.collector === "" ? <Dim>{t("targets.pushed")}</Dim> : row.collector}</td>
              <td data-number>{text.lag}</td>
              <td data-number>{text.duration}</td>
              <td data-number>{text.cpu}</td>
              <td data-number>{text.samples}</td>
              <td className={classes.error}>
                {row.agents.length > 1 && <p>{t("targets.overlap", { agents: row.agents.join(", ") })}</p>}
                {row.error === null ? <Dim>{t("targets.noError")}</Dim> : say(row.error)} <RemoveTarget row={row} />
              </td>
            </tr>
          );
        })}
      </tbody>
    </Table>
  );
}
