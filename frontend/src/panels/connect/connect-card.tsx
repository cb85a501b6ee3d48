import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { connectionsQuery } from "@/api/connect/queries";
import { useMay } from "@/lib/access-scopes";
import { CommandLine } from "@/ui/command-line";
import { faultText, Problem } from "@/ui/fault/problem";
import { Section } from "@/ui/page/section";
import { Dim, Hint } from "@/ui/text/text";
import classes from "./connect.module.css";
import { commandsFor, isWatchable, listenerId, sortListeners } from "./model";
import { ProgramName, Seems } from "./seeming";

const MOST = 6;

/** What could be watched, each line a link to what watches it. */
export function ConnectCard() {
  const { t } = useTranslation();
  const may = useMay("admin");
  const { data, error, isPending } = useQuery({ ...connectionsQuery, enabled: may });
  const listeners = sortListeners(data?.listeners ?? []).filter(isWatchable);
  const elsewhere = data?.agent === "elsewhere";
  return (
    <Section title={t("connect.title")} aside={<Link to="/connect">{t("connect.all")}</Link>}>
      {!may && <Hint>{t("connect.askAdministrator")}</Hint>}
      {may && isPending && <Hint>{t("connect.looking")}</Hint>}
      {error !== null && <Problem calm>{faultText(error, t)}</Problem>}
      {data !== undefined && !elsewhere && (
        <Hint>{listeners.length > 0 ? t("connect.lead") : t("connect.nothing")}</Hint>
      )}
      {listeners.length > 0 && (
        <ul className={classes.hint}>
          {listeners.slice(0, MOST).map((one) => (
            <li key={listenerId(one, listeners)}>
              <Link className={classes.choice} to={`/connect#${listenerId(one, data?.listeners ?? [])}`}>
                <span className={classes.port}>{one.port}</span>
                <strong>
                  <ProgramName listener={one} />
                </strong>
              </Link>
              <Dim>
                <Seems listener={one} />
              </Dim>
            </li>
          ))}
        </ul>
      )}
      {(!may || data !== undefined) && (
        <>
          <Hint>{t(elsewhere ? "connect.elsewhere" : "connect.otherHostsHint")}</Hint>
          <CommandLine text={commandsFor(globalThis.location.origin)} copy={t("connect.copyCommands")} />
        </>
      )}
    </Section>
  );
}
