import { useTranslation } from "react-i18next";
import type { Diagnosis } from "@/api/findings/types";
import { CommandLine } from "@/ui/command-line";
import { Disclosure } from "@/ui/text/disclosure";
import { Dim, Hint } from "@/ui/text/text";
import classes from "./findings.module.css";
import { switchedOff, usualLines } from "./model";
import { useWords } from "./words";

/** What was full or unusual and hurt nobody. */
export function Observations({ diagnosis }: { diagnosis: Diagnosis }) {
  const { t } = useTranslation();
  const words = useWords();
  if (diagnosis.observations.length === 0) return null;
  return (
    <>
      <h3 className={classes.heading}>{t("findings.observations")}</h3>
      <ul className={classes.plain}>
        {diagnosis.observations.map((one) => (
          <li key={one.en}>{words(one)}</li>
        ))}
      </ul>
    </>
  );
}

/** What was looked at and was not it, each with its figure. */
export function Checked({ diagnosis }: { diagnosis: Diagnosis }) {
  const { t } = useTranslation();
  const words = useWords();
  if (diagnosis.checked.length === 0) return null;
  return (
    <Disclosure summary={t("findings.checked", { count: diagnosis.checked.length })}>
      <dl className={classes.checked}>
        {diagnosis.checked.map(({ id, title, text }) => (
          <div key={id}>
            <dt>{words(title)}</dt>
            <dd>{words(text)}</dd>
          </div>
        ))}
      </dl>
    </Disclosure>
  );
}

/** The lines that switch on what is usually measured, where without it nobody can tell. */
export function SwitchOn({ diagnosis }: { diagnosis: Diagnosis }) {
  const { t } = useTranslation();
  const lines = diagnosis.state === "cannot-tell" ? usualLines(diagnosis.missing) : "";
  if (lines === "") return null;
  return (
    <div className={classes.missing}>
      <Hint>{t("findings.missingHint")}</Hint>
      <CommandLine text={lines} />
    </div>
  );
}

/** What could not be judged, and what could not be looked at, with the lines that switch each on. */
export function NotChecked({ diagnosis }: { diagnosis: Diagnosis }) {
  const { t } = useTranslation();
  const words = useWords();
  const unjudged = diagnosis.unjudged ?? [];
  const count = diagnosis.missing.length + unjudged.length;
  if (count === 0) return null;
  return (
    <Disclosure summary={t("findings.missing", { count })}>
      <ul className={classes.plain}>
        {(diagnosis.symptoms ?? []).map((symptom) => (
          <li key={symptom.en}>{words(symptom)}</li>
        ))}
      </ul>
      <dl className={classes.checked}>
        {unjudged.map(({ id, title, text }) => (
          <div key={id}>
            <dt>{words(title)}</dt>
            <dd>{words(text)}</dd>
          </div>
        ))}
      </dl>
      {switchedOff(diagnosis.missing).map(({ config, missing }) => (
        <div key={config} className={classes.missing}>
          <Hint>{config === "" ? t("findings.missingNone") : t("findings.missingHint")}</Hint>
          <ul className={classes.plain}>
            {missing.map(({ id, title, needs }) => (
              <li key={id}>
                {words(title)} <Dim>{t("findings.needs", { metrics: needs.join(", ") })}</Dim>
              </li>
            ))}
          </ul>
          {config !== "" && <CommandLine text={config} />}
        </div>
      ))}
    </Disclosure>
  );
}
