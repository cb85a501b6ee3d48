import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { revokeToken } from "@/api/access/queries";
import type { Token } from "@/api/access/types";
import { FormDialog } from "@/ui/form/dialog";
import { notifyGood } from "@/ui/notify";
import { Hint } from "@/ui/text/text";
import { FaultText } from "../fault-text";

/** Asks before a token is refused from now on. */
export function RevokeToken({ token, onClose }: { token: Token; onClose: () => void }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const revoke = useMutation({
    mutationFn: () => revokeToken(token.id),
    onSuccess: async () => {
      notifyGood(t("users.token.revoked"));
      onClose();
      await client.invalidateQueries({ queryKey: ["access"] });
    },
  });
  return (
    <FormDialog
      title={t("users.token.revokeTitle", { name: token.name })}
      submit={t("users.token.revoke")}
      busy={revoke.isPending}
      fault={<FaultText error={revoke.error} />}
      danger
      onSubmit={() => revoke.mutate()}
      onClose={onClose}
    >
      <Hint>{t("users.token.revokeHint")}</Hint>
    </FormDialog>
  );
}
