import { useTranslation } from "react-i18next";
import { COMMANDS, ON_LOOPBACK, REMOTE_WRITE } from "@/panels/connect/model";
import { CommandLine } from "@/ui/command-line";
import { Section } from "@/ui/page/section";
import { Hint } from "@/ui/text/text";

/** The same by hand, where the page reaches no agent. */
export function OtherHosts({ elsewhere }: { elsewhere: boolean }) {
  const { t } = useTranslation();
  return (
    <Section title={t(elsewhere ? "connect.onTheHost" : "connect.otherHosts")}>
      <Hint>{t(elsewhere ? "connect.elsewhere" : "connect.otherHostsHint")}</Hint>
      {ON_LOOPBACK && <Hint>{t("connect.loopback")}</Hint>}
      <CommandLine text={COMMANDS} copy={t("connect.copyCommands")} />
      <Hint>{t("connect.exporters")}</Hint>
      <CommandLine text={`remote_write:\n  - url: ${REMOTE_WRITE}`} copy={t("connect.copyRemoteWrite")} />
    </Section>
  );
}
