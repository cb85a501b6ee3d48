import { Button, Modal } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { ImportFacts } from "@/api/runs/upload";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
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
    <Modal
      opened
      onClose={onClose}
      title={t("runs.importTitle")}
      size="lg"
      closeButtonProps={{ "aria-label": t("action.close") }}
    >
      <form
        className={classes.form}
        onSubmit={(event) => {
          event.preventDefault();
          onStart(files, importFacts(facts));
          onClose();
        }}
      >
        <ul className={classes.files}>
          {files.map((file) => (
            <li key={`${file.name} ${file.size}`}>
              <strong>{file.name}</strong>{" "}
              <span className={classes.dim}>{formatValue(file.size, "bytes", locale)}</span>
            </li>
          ))}
        </ul>
        <p className={classes.dim}>{t("runs.importFactsHint")}</p>
        <FactsFields facts={facts} onChange={setFacts} links={false} />
        <div className={classes.buttons}>
          <Button variant="default" onClick={onClose}>
            {t("action.cancel")}
          </Button>
          <Button type="submit" data-autofocus>
            {t("runs.importStart", { count: files.length })}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
