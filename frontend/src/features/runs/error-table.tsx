import { useTranslation } from "react-i18next";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import classes from "./run-page.module.css";
import { Section } from "./section";

/** The load tool's own error texts, the most frequent first. */
export function ErrorTable({ errors }: { errors: readonly (readonly [string, number])[] }) {
  const { t } = useTranslation();
  const locale = useLocale();
  return (
    <Section id="errors" title={t("runs.page.errors")} aside={t("runs.page.errorsHint")}>
      <div className={classes.scroll}>
        <table className={classes.table}>
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
                <td data-number>{formatValue(count, "count", locale)}</td>
                <td className={classes.errorText}>{text}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}
