import { Button, Modal } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { Run } from "@/api/runs/types";
import { FaultText } from "@/ui/fault/problem";
import { FactsFields } from "../import/facts-fields";
import classes from "../list/runs-page.module.css";
import { factsOf, factsPatch, factsProblems } from "../model/facts";
import { useRunUpdate } from "../model/use-run-update";

/** Changes what people say of a run; figures follow new thresholds. */
export function EditRun({ run, onClose }: { run: Run; onClose: () => void }) {
  const { t } = useTranslation();
  const { patch } = useRunUpdate(run.id);
  const [before] = useState(() => factsOf(run));
  const [facts, setFacts] = useState(before);
  return (
    <Modal
      opened
      onClose={onClose}
      title={t("runs.page.edit")}
      size="lg"
      closeButtonProps={{ "aria-label": t("action.close") }}
    >
      <form
        className={classes.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (factsProblems(facts).length > 0) return;
          const changes = factsPatch(before, facts);
          if (Object.keys(changes).length === 0) onClose();
          else patch.mutate(changes, { onSuccess: onClose });
        }}
      >
        <FactsFields facts={facts} onChange={setFacts} links />
        <FaultText error={patch.error} />
        <div className={classes.buttons}>
          <Button variant="default" onClick={onClose}>
            {t("action.cancel")}
          </Button>
          <Button type="submit" loading={patch.isPending}>
            {t("action.save")}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
