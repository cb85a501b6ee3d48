import { Button, Checkbox } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { evidenceQuery } from "@/api/evidence/queries";
import { runFiles } from "@/api/runs/queries";
import type { Run } from "@/api/runs/types";
import { FaultText } from "@/ui/fault/problem";
import { Dialog } from "@/ui/form/dialog";
import { Buttons } from "@/ui/form/form";
import { Hint } from "@/ui/text/text";
import { FileChoice } from "./file-choice";

/** The run as one file for another server; what may not be for everybody can stay behind. */
export function ExportRun({ run, onClose }: { run: Run; onClose: () => void }) {
  const { t } = useTranslation();
  const kept = useQuery(evidenceQuery(run.id));
  const [left, setLeft] = useState<readonly string[]>([]);
  const [annotations, setAnnotations] = useState(true);
  const files = kept.data?.files ?? [];
  const chosen = files.map((file) => file.id).filter((id) => !left.includes(id));
  return (
    <Dialog onClose={onClose} title={t("runs.export.title")} size="lg">
      <Hint>{t("runs.export.hint")}</Hint>
      <FileChoice
        label={t("runs.export.files")}
        hint={t("runs.export.filesHint")}
        files={files}
        chosen={chosen}
        onChoose={(now) => setLeft(files.map((file) => file.id).filter((id) => !now.includes(id)))}
      />
      <Checkbox
        mt="sm"
        checked={annotations}
        onChange={(event) => setAnnotations(event.currentTarget.checked)}
        label={t("runs.export.annotations")}
      />
      <FaultText error={kept.error} />
      <Buttons>
        <Button
          component="a"
          href={runFiles.archive(run.id, left.length === 0 ? null : chosen, annotations)}
          download
          disabled={kept.isPending}
        >
          {t("runs.export.download")}
        </Button>
      </Buttons>
    </Dialog>
  );
}
