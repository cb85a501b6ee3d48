import { useTranslation } from "react-i18next";
import { revokeToken } from "@/api/access/queries";
import type { Token } from "@/api/access/types";
import { FormDialog } from "@/ui/form/dialog";
import { Hint } from "@/ui/text/text";
import { useChange } from "@/ui/use-change";
import { FaultText } from "../fault-text";

/** Asks before a token is refused from now on. */
export function RevokeToken({ token, onClose }: { token: Token; onClose: () => void }) {
  const { t } = useTranslation();
  const revoke = useChange(() => revokeToken(token.id), {
    touches: ["access"],
    said: t("users.token.revoked"),
    onDone: onClose,
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
