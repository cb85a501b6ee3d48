import { useTranslation } from "react-i18next";
import { CommandLine } from "@/ui/command-line";
import { PageMessage } from "@/ui/page-message";

const EXAMPLE = `targets:
  - job: shop
    timeouts:
      client: {request: 30s}
      app: {runtime: go, read_header: 10s, write: 30s, idle: 75s}
      pool: {max_lifetime: 5m}
      probes: [{url: "http://127.0.0.1:8080/healthz"}]`;

/** How to get the first timeouts in. */
export function NoTimeouts() {
  const { t } = useTranslation();
  return (
    <PageMessage icon="clock" title={t("timeouts.empty")}>
      <p>{t("timeouts.emptyGive")}</p>
      <CommandLine text={EXAMPLE} />
      <p>{t("timeouts.emptyFound")}</p>
    </PageMessage>
  );
}
