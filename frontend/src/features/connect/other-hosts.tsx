import { useTranslation } from "react-i18next";
import { commandsFor, isLoopback } from "@/panels/connect/model";
import { CommandLine } from "@/ui/command-line";
import { Section } from "@/ui/page/section";
import { Hint } from "@/ui/text/text";

/** The same by hand, where the page reaches no agent. */
export function OtherHosts({ elsewhere }: { elsewhere: boolean }) {
  const { t } = useTranslation();
  const { origin, hostname } = globalThis.location;
  const remoteWrite = `remote_write:\n  - url: ${origin}/prometheus/api/v1/write`;
  return (
    <Section title={t(elsewhere ? "connect.onTheHost" : "connect.otherHosts")}>
      <Hint>{t(elsewhere ? "connect.elsewhere" : "connect.otherHostsHint")}</Hint>
      <CommandLine text={commandsFor(origin)} copy={t("connect.copyCommands")} />
      {isLoopback(hostname) && <Hint>{t("connect.loopback", { origin })}</Hint>}
      <Hint>{t("connect.exporters")}</Hint>
      <CommandLine text={remoteWrite} copy={t("connect.copyRemoteWrite")} />
    </Section>
  );
}
