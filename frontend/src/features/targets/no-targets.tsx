import { useTranslation } from "react-i18next";
import { CommandLine } from "@/ui/command-line";
import { PageMessage } from "@/ui/page-message";

/** How to get the first samples in. */
export function NoTargets() {
  const { t } = useTranslation();
  const remoteWrite = `remote_write:\n  - url: ${globalThis.location.origin}/prometheus/api/v1/write`;
  return (
    <PageMessage icon="target" title={t("targets.empty")}>
      <p>{t("targets.emptyAgent")}</p>
      <CommandLine text={"loadwatch check --config loadwatch.yml\nloadwatch agent --config loadwatch.yml"} />
      <p>{t("targets.emptyPrometheus")}</p>
      <CommandLine text={remoteWrite} />
    </PageMessage>
  );
}
