import { useTranslation } from "react-i18next";
import { useLocation } from "react-router";
import type { Connections, Listener } from "@/api/connect/types";
import { isWatchable, listenerId } from "@/panels/connect/model";
import { ProgramName, Seems } from "@/panels/connect/seeming";
import { Cards } from "@/ui/list/card";
import { PageMessage } from "@/ui/page-message";
import { Disclosure } from "@/ui/text/disclosure";
import { Dim, Hint } from "@/ui/text/text";
import classes from "./connect.module.css";
import { ListenerCard } from "./listener-card";

interface Props {
  readonly connections: Connections;
  readonly listeners: readonly Listener[];
}

/** A card for each program that could be watched, and the rest behind a line. */
export function ListenerList({ connections, listeners }: Props) {
  const { t } = useTranslation();
  const wanted = useLocation().hash.slice(1);
  const watchable = listeners.filter(isWatchable);
  const rest = listeners.filter((one) => !isWatchable(one));
  return (
    <>
      <Hint>{t("connect.how")}</Hint>
      {connections.agent === "displaced" && <Hint>{t("connect.displaced")}</Hint>}
      {watchable.length === 0 && <PageMessage icon="target" title={t("connect.nothing")} />}
      <div className={classes.cards}>
        <Cards aria-label={t("connect.list")}>
          {watchable.map((one) => {
            const id = listenerId(one, connections.listeners);
            return (
              <ListenerCard
                key={id}
                id={id}
                listener={one}
                config={connections.config}
                opened={id === wanted || (watchable.length === 1 && one.lines !== "")}
              />
            );
          })}
        </Cards>
      </div>
      {connections.more > 0 && <Hint>{t("connect.more", { count: connections.more })}</Hint>}
      {rest.length > 0 && (
        <Disclosure summary={t("connect.rest", { count: rest.length })}>
          <ul className={classes.rest}>
            {rest.map((one) => (
              <li key={listenerId(one, connections.listeners)}>
                <span className={classes.port}>{one.port}</span> <ProgramName listener={one} />{" "}
                <Dim>
                  <Seems listener={one} />
                </Dim>
              </li>
            ))}
          </ul>
        </Disclosure>
      )}
    </>
  );
}
