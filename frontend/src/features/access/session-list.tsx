import { Button } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { UserSession } from "@/api/access/types";
import { serverNow } from "@/api/server-clock";
import { useNow } from "@/lib/time/use-now";
import { useTimes } from "@/lib/time/use-times";
import { Tag } from "@/ui/text/tag";
import { Hint, NameLine } from "@/ui/text/text";
import classes from "./access.module.css";
import { browserName } from "./model/text";

interface Props {
  readonly sessions: readonly UserSession[];
  readonly busy: boolean;
  readonly onEnd: (session: UserSession) => void;
}

/** Browsers that are signed in, each with a button that ends it. */
export function SessionList({ sessions, busy, onEnd }: Props) {
  const { t } = useTranslation();
  const times = useTimes();
  const now = useNow(serverNow, 10_000);
  if (sessions.length === 0) return <Hint>{t("users.noSessions")}</Hint>;
  return (
    <ul className={classes.rows} aria-label={t("users.sessions")}>
      {sessions.map((session) => {
        const browser = browserName(session.browser);
        return (
          <li key={session.id} className={classes.row} data-session={session.id}>
            <div>
              <NameLine>
                {browser}
                {session.current && <Tag>{t("users.thisBrowser")}</Tag>}
              </NameLine>
              <Hint>
                {session.address} · {t("users.seen", { span: times.span(Math.max(0, now - session.last_seen_ms)) })} ·{" "}
                {t("users.sessionExpires", { time: times.short(session.expires_ms) })}
              </Hint>
            </div>
            {!session.current && (
              <Button
                size="compact-sm"
                variant="default"
                disabled={busy}
                onClick={() => onEnd(session)}
                aria-label={`${t("users.endSession")}: ${browser}, ${session.address}`}
              >
                {t("users.endSession")}
              </Button>
            )}
          </li>
        );
      })}
    </ul>
  );
}
