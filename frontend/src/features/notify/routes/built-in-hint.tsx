import { useTranslation } from "react-i18next";
import { CommandLine } from "@/ui/command-line";
import { PageMessage } from "@/ui/page-message";
import { Disclosure } from "@/ui/text/disclosure";

const EXAMPLE = `route:
  receiver: on-call
  group_by: [alertname, job]
  group_wait: 10s
  group_interval: 5m
  repeat_interval: 4h
  routes:
    # A load test wakes nobody: its alerts are on the page only.
    - receiver: page-only
      matchers: ['run=~".+"']
receivers:
  - name: on-call
    webhook_configs:
      - url: https://hooks.example.org/loadwatch
        signing_secret_file: /etc/loadwatch/webhook-secret
  - name: page-only
`;

/** No file is configured: what that means, and the way to a first one. */
export function BuiltInHint() {
  const { t } = useTranslation();
  return (
    <PageMessage icon="info" title={t("notify.builtIn.title")}>
      <p>{t("notify.builtIn.meaning")}</p>
      <Disclosure summary={t("notify.builtIn.how")}>
        <p>{t("notify.builtIn.file")}</p>
        <CommandLine text={EXAMPLE} />
        <p>{t("notify.builtIn.check")}</p>
        <CommandLine text="loadwatch routes check notifications.yml" />
        <p>{t("notify.builtIn.start")}</p>
        <CommandLine text="LOADWATCH_NOTIFICATIONS=notifications.yml loadwatch server" />
      </Disclosure>
    </PageMessage>
  );
}
