import { useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { useTranslation } from "react-i18next";
import { sessionQuery, signOut } from "@/api/queries";
import { notifyGood } from "@/ui/notify";

/** Signs out and forgets all that was read. */
export function useLeave(): () => Promise<void> {
  const { t } = useTranslation();
  const client = useQueryClient();
  return useCallback(async () => {
    await signOut();
    // The session is set, not removed: the page watches this very entry, and would go on showing what it last held.
    client.setQueryData(sessionQuery.queryKey, (held) => held && { ...held, principal: null });
    client.removeQueries({ predicate: (query) => query.queryKey[0] !== sessionQuery.queryKey[0] });
    notifyGood(t("signIn.signedOut"));
  }, [client, t]);
}
