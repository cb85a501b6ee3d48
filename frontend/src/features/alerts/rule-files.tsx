import { useTranslation } from "react-i18next";
import type { RuleFile } from "@/api/alert-types";
import { formatInstant } from "@/lib/time";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view-context";
import { StateMark } from "@/ui/state-mark";
import classes from "./rules-page.module.css";

/** The files that rules come from, the broken ones first with what is wrong and where. */
export function RuleFiles({ files }: { files: readonly RuleFile[] }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const { zone } = useView();
  const sorted = files.toSorted((a, b) => Number(b.state === "broken") - Number(a.state === "broken"));
  return (
    <section className={classes.panel} aria-labelledby="rule-files">
      <h2 id="rule-files" className={classes.partTitle}>
        {t("alerts.rules.files")}
      </h2>
      {files.length === 0 && <p className={classes.dim}>{t("alerts.noRulesHint")}</p>}
      <ul className={classes.files}>
        {sorted.map((file) => (
          <li key={file.path} data-broken={file.state === "broken"}>
            <div className={classes.fileLine}>
              <StateMark tone={file.state === "broken" ? "bad" : "ok"} label={t(`alerts.rules.file_${file.state}`)} />
              <span className={classes.path}>
                {file.built_in ? t("alerts.rules.builtIn", { path: file.path }) : file.path}
              </span>
              <span className={classes.dim}>
                {t("alerts.rules.fileFacts", {
                  total: file.rules,
                  time: formatInstant(Math.floor(file.loaded_ms / 1000) * 1000, zone, locale),
                })}
              </span>
            </div>
            {file.error !== "" && (
              <p className={classes.fault} role="alert">
                {file.line === null ? file.error : t("alerts.rules.atLine", { line: file.line, error: file.error })}
                {file.state === "broken" && <span> {t("alerts.rules.brokenHint")}</span>}
              </p>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
