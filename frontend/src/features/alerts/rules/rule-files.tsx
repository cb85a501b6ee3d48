import { useTranslation } from "react-i18next";
import type { RuleFile } from "@/api/alerts/types";
import { formatInstant } from "@/lib/time/time";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { Notice } from "@/ui/page/notice";
import { Section } from "@/ui/page/section";
import { StateMark } from "@/ui/state-mark";
import { Dim, Hint } from "@/ui/text/text";
import classes from "./rules-page.module.css";

const ORDER: readonly RuleFile["state"][] = ["broken", "partial", "ok"];
const TONES = { ok: "ok", partial: "warn", broken: "bad" } as const;

/** The files that rules come from: the broken ones first with what is wrong and where, the built-in ones in one line. */
export function RuleFiles({ files }: { files: readonly RuleFile[] }) {
  const { t } = useTranslation();
  const plain = files.filter((file) => file.built_in && file.error === "");
  const own = files
    .filter((file) => !plain.includes(file))
    .toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
  return (
    <Section title={t("alerts.rules.files")}>
      {files.length === 0 && <Hint>{t("alerts.noRulesHint")}</Hint>}
      <ul className={classes.files}>
        {own.map((file) => (
          <li key={file.path}>
            <FileLine files={[file]} name={file.path} />
            {file.error !== "" && (
              <Notice tone="bad" role="alert" icon={null}>
                {file.line === null ? file.error : t("alerts.rules.atLine", { line: file.line, error: file.error })}
                {file.state === "broken" && <span> {t("alerts.rules.brokenHint")}</span>}
                {file.state === "partial" && <span> {t("alerts.rules.partialHint")}</span>}
              </Notice>
            )}
          </li>
        ))}
        {plain.length > 0 && (
          <li>
            <FileLine
              files={plain}
              name={t("alerts.rules.builtIn", { names: plain.map(({ path }) => path).join(", ") })}
            />
          </li>
        )}
      </ul>
    </Section>
  );
}

function FileLine({ files, name }: { files: readonly RuleFile[]; name: string }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const { zone } = useView();
  const state = ORDER.find((one) => files.some((file) => file.state === one)) ?? "ok";
  const read = Math.max(...files.map((file) => file.loaded_ms));
  const facts = {
    total: files.reduce((sum, file) => sum + file.rules, 0),
    time: formatInstant(Math.floor(read / 1000) * 1000, zone, locale),
  };
  return (
    <div className={classes.fileLine}>
      <StateMark tone={TONES[state]} label={t(`alerts.rules.file_${state}`)} />
      <span className={classes.path}>{name}</span>
      <Dim>{t("alerts.rules.fileFacts", facts)}</Dim>
    </div>
  );
}
