import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { ImportFacts } from "@/api/runs/upload";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { FormDialog } from "@/ui/form/dialog";
import { Dim, Hint } from "@/ui/text/text";
import classes from "../list/runs-page.module.css";
import { EMPTY_FACTS, type FactsDraft, importFacts } from "../model/facts";
import { FactsFields } from "./facts-fields";

interface Props {
  readonly files: readonly File[];
  readonly onClose: () => void;
  readonly onStart: (files: readonly File[], facts: ImportFacts) => void;
}

/** What a file cannot tell is said before it goes: scenario, version, commit. All of it may stay empty. */
export function ImportDialog({ files, onClose, onStart }: Props) {
  const { t } = useTranslation();
  const locale = useLocale();
  const [facts, setFacts] = useState<FactsDraft>(EMPTY_FACTS);
  return (
    <FormDialog
      title={t("runs.importTitle")}
      size="lg"
      submit={t("runs.importStart", { count: files.length })}
      focus="submit"
      onSubmit={() => {
        onStart(files, importFacts(facts));
        onClose();
      }}
      onClose={onClose}
    >
      <ul className={classes.files}>
        {files.map((file) => (
          <li key={`${file.name} ${file.size}`}>
            <strong>{file.name}</strong> <Dim>{formatValue(file.size, "bytes", locale)}</Dim>
          </li>
        ))}
      </ul>
      <Hint>{t("runs.importFactsHint")}</Hint>
      <FactsFields facts={facts} onChange={setFacts} importing />
    </FormDialog>
  );
}
