import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { endUserSession, userSessionsQuery } from "@/api/access/queries";
import type { User } from "@/api/access/types";
import { Dialog } from "@/ui/form/dialog";
import { Loading } from "@/ui/loading";
import { useChange } from "@/ui/use-change";
import { FaultText } from "../fault-text";
import { SessionList } from "../session-list";

/** Where a user is signed in. */
export function UserSessions({ user, onClose }: { user: User; onClose: () => void }) {
  const { t } = useTranslation();
  const sessions = useQuery({ ...userSessionsQuery(user.id), refetchInterval: 5000 });
  const end = useChange((session: string) => endUserSession(user.id, session), {
    touches: ["access"],
    said: t("users.sessionEnded"),
  });
  return (
    <Dialog onClose={onClose} size="lg" title={t("users.sessionsTitle", { name: user.name })}>
      {sessions.isPending && <Loading height={96} label={t("users.loading")} />}
      <FaultText error={sessions.error ?? end.error} />
      {sessions.data && (
        <SessionList
          sessions={sessions.data.sessions}
          busy={end.isPending}
          onEnd={(session) => end.mutate(session.id)}
        />
      )}
    </Dialog>
  );
}
