import { useTranslation } from "react-i18next";
import { formatCount } from "@/lib/run-text";
import { Table } from "@/ui/list/table";
import { Section } from "@/ui/page/section";
import classes from "../page/run-page.module.css";

/** The load tool's own error texts, the most frequent first. */
export function ErrorTable({ errors }: { errors: readonly (readonly [string, number])[] }) {
  const { t } = useTranslation();
  return (
    <Section id="errors" title={t("runs.page.errors")} aside={t("runs.page.errorsHint")}>
      <Table label={t("runs.page.errorTable")} bare className={classes.table}>
        <thead>
          <tr>
            <th scope="col" data-number>
              {t("runs.page.count")}
            </th>
            <th scope="col">{t("runs.page.errorText")}</th>
          </tr>
        </thead>
        <tbody>
          {errors.map(([text, count]) => (
            <tr key={text}>
              <td data-number>{formatCount(count)}</td>
              <td className={classes.errorText}>{text}</td>
            </tr>
          ))}
        </tbody>
      </Table>
    </Section>
  );
}
