import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import type { Listener } from "@/api/connect/types";
import { kindOf, passwordFile } from "@/panels/connect/model";
import { ProgramName, Seems } from "@/panels/connect/seeming";
import { CommandLine } from "@/ui/command-line";
import { Icon } from "@/ui/icon";
import { Card } from "@/ui/list/card";
import { StateMark } from "@/ui/state-mark";
import { Hint } from "@/ui/text/text";
import classes from "./connect.module.css";
import { WatchButtons } from "./watch-buttons";

const EXPLAINED = new Set(["http", "redis", "memcached", "tls", "silent", "unasked"] as const);
type Explained = typeof EXPLAINED extends Set<infer Kind> ? Kind : never;

interface Props {
  readonly id: string;
  readonly listener: Listener;
  /** The agent's file; null where the page may not write it. */
  readonly config: string | null;
  readonly opened: boolean;
}

/** One program and port: what it seems to be, whether it is watched, and behind that the lines. */
export function ListenerCard({ id, listener, config, opened }: Props) {
  const { t } = useTranslation();
  const details = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    // Only the first time: who folds it, or came by a link and read on, keeps what they see.
    if (opened && details.current !== null) {
      details.current.open = true;
      if (globalThis.location.hash === `#${id}`) details.current.scrollIntoView({ block: "nearest" });
    }
  }, [opened, id]);
  const [written, setWritten] = useState(false);
  const state = written || listener.lines === "" ? "watched" : listener.watched.length > 0 ? "partly" : "unwatched";
  return (
    <Card id={id}>
      <details ref={details} className={classes.details}>
        <summary>
          <Icon name="chevronRight" size={12} />
          <span className={classes.port}>{listener.port}</span>
          <strong className={classes.name}>
            <ProgramName listener={listener} />
          </strong>
          <span className={classes.seems}>
            <Seems listener={listener} />
          </span>
          <StateMark tone={state === "watched" ? "ok" : "unknown"} label={t(`connect.state_${state}`)} />
        </summary>
        <div className={classes.body}>
          <Facts listener={listener} />
          <Explanation listener={listener} />
          {listener.lines !== "" && (
            <>
              <CommandLine text={listener.lines.trimEnd()} copy={t("connect.copyLines", { port: listener.port })} />
              <Password file={passwordFile(listener.lines)} />
              {config === null ? (
                <Hint>{t("connect.byHand", { port: listener.port })}</Hint>
              ) : (
                <WatchButtons
                  key={listener.digest}
                  listener={listener}
                  config={config}
                  onWritten={() => setWritten(true)}
                />
              )}
            </>
          )}
        </div>
      </details>
    </Card>
  );
}

function Facts({ listener }: { listener: Listener }) {
  const { t } = useTranslation();
  const { addresses, pids, user, owner_seen, program, watched } = listener;
  return (
    <>
      <Hint>
        {t("connect.listensOn", { addresses: addresses.join(", ") })}{" "}
        {pids.length > 0 && t("connect.process", { pids: pids.join(", "), user })}{" "}
        {!owner_seen && (program === null ? t("connect.ownerHidden") : t("connect.ownerByUser", { user }))}
      </Hint>
      {watched.length > 0 && (
        <ul className={classes.watched}>
          {watched.map(({ source, job, where }) => (
            <li key={source + where}>{t("connect.watchedBy", { source, job, where })}</li>
          ))}
        </ul>
      )}
    </>
  );
}

/** What its process alone leaves out, and what would show it. */
function Explanation({ listener }: { listener: Listener }) {
  const { t } = useTranslation();
  const kind = kindOf(listener);
  return EXPLAINED.has(kind as Explained) ? <Hint>{t(`connect.why_${kind as Explained}`)}</Hint> : null;
}

function Password({ file }: { file: string | null }) {
  const { t } = useTranslation();
  if (file === null) return null;
  return (
    <>
      <Hint>
        <a href="#account">{t("connect.needsAccount")}</a> {t("connect.needsPassword")}
      </Hint>
      <CommandLine text={`(umask 077; cat > '${file}')`} copy={t("connect.copyPassword")} />
    </>
  );
}
