import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { Run } from "@/api/runs/types";
import { FaultText } from "@/ui/fault/problem";
import { FormDialog } from "@/ui/form/dialog";
import { FactsFields } from "../import/facts-fields";
import { factsOf, factsPatch, factsProblems } from "../model/facts";
import { useRunUpdate } from "../model/use-run-update";

/** Changes what people say of a run; figures follow new thresholds. */
export function EditRun({ run, onClose }: { run: Run; onClose: () => void }) {
  const { t } = useTranslation();
  const { patch } = useRunUpdate(run.id);
  const [before] = useState(() => factsOf(run));
  const [facts, setFacts] = useState(before);
  return (
    <FormDialog
      title={t("runs.page.edit")}
      size="lg"
      submit={t("action.save")}
      busy={patch.isPending}
      fault={<FaultText error={patch.error} />}
      onSubmit={() => {
        if (factsProblems(facts).length > 0) return;
        const changes = factsPatch(before, facts);
        if (Object.keys(changes).length === 0) onClose();
        else patch.mutate(changes, { onSuccess: onClose });
      }}
      onClose={onClose}
    >
      <FactsFields facts={facts} onChange={setFacts} />
    </FormDialog>
  );
}
