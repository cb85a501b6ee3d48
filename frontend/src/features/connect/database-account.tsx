import { useTranslation } from "react-i18next";
import { grantsOf, POSTGRESQL_GRANTS } from "@/panels/connect/model";
import { CommandLine } from "@/ui/command-line";
import { Section } from "@/ui/page/section";
import { Hint } from "@/ui/text/text";
import classes from "./connect.module.css";

const HOST = "127.0.0.1";

/** The statements that make the agent's account in a database. */
export function DatabaseAccount() {
  const { t } = useTranslation();
  return (
    <Section id="account" title={t("connect.account")}>
      <Hint>{t("connect.accountHint")}</Hint>
      <h3 className={classes.server}>MariaDB</h3>
      <CommandLine text={grantsOf("mariadb", HOST)} copy={t("connect.copyGrants", { server: "MariaDB" })} />
      <h3 className={classes.server}>MySQL 8</h3>
      <CommandLine text={grantsOf("mysql", HOST)} copy={t("connect.copyGrants", { server: "MySQL" })} />
      <h3 className={classes.server}>PostgreSQL</h3>
      <CommandLine text={POSTGRESQL_GRANTS} copy={t("connect.copyGrants", { server: "PostgreSQL" })} />
      <Hint>{t("connect.grantsHint")}</Hint>
    </Section>
  );
}
