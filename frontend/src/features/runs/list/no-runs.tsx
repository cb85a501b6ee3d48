import { useTranslation } from "react-i18next";
import { CommandLine } from "@/ui/command-line";
import { PageMessage } from "@/ui/page-message";
import { ImportButton } from "../import/import-drop";

const RUN =
  'loadwatch run --scenario ingest --rate 600 --threshold "p95<300ms" -- \\\n  vegeta attack -rate 600 -duration 5m -targets targets.txt';
const IMPORT = "loadwatch import results.gob --scenario ingest --commit $(git rev-parse HEAD)";

/** The first visit: how a run comes about. */
export function NoRuns({ onFiles }: { onFiles: (files: readonly File[]) => void }) {
  const { t } = useTranslation();
  return (
    <PageMessage icon="play" title={t("runs.empty")} actions={<ImportButton onFiles={onFiles} primary />}>
      <p>{t("runs.emptyRun")}</p>
      <CommandLine text={RUN} />
      <p>{t("runs.emptyImport")}</p>
      <CommandLine text={IMPORT} />
      <p>{t("runs.emptyDrop")}</p>
    </PageMessage>
  );
}
