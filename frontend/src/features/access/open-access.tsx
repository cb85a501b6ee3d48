import { useTranslation } from "react-i18next";
import type { Session } from "@/api/types";
import { CommandLine } from "@/ui/command-line";
import { PageMessage } from "@/ui/page-message";
import { Disclosure } from "@/ui/text/disclosure";

/** Says in plain words who may come in here when there are no users to speak of, and how to change that. */
export function OpenAccess({ access }: { access: Session["access"] }) {
  const { t } = useTranslation();
  if (access === "users") return null;
  return (
    <PageMessage icon={access === "open" ? "shield" : "key"} title={t(`users.mode_${access}`)}>
      <p>{t(`users.modeMeaning_${access}`)}</p>
      <Disclosure summary={t("users.modeChange")}>
        <p>{t("users.modeUsers")}</p>
        <CommandLine text="LOADWATCH_ACCESS=users loadwatch server" />
        <p>{t("users.modeListen")}</p>
        <CommandLine text="LOADWATCH_LISTEN=0.0.0.0:8000 loadwatch server" />
      </Disclosure>
    </PageMessage>
  );
}
