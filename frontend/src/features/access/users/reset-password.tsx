import { useState } from "react";
import { useTranslation } from "react-i18next";
import { changeUser } from "@/api/access/queries";
import type { User } from "@/api/access/types";
import { FormDialog } from "@/ui/form/dialog";
import { Hint } from "@/ui/text/text";
import { useChange } from "@/ui/use-change";
import { FaultText } from "../fault-text";
import { isWhole, NewPassword, NO_PASSWORD } from "../new-password";

/** A new password for somebody else. */
export function ResetPassword({ user, onClose }: { user: User; onClose: () => void }) {
  const { t } = useTranslation();
  const [password, setPassword] = useState(NO_PASSWORD);
  const save = useChange(() => changeUser(user.id, { password: password.first }), {
    touches: ["access"],
    said: t("users.passwordSet"),
    onDone: onClose,
  });
  return (
    <FormDialog
      title={t("users.resetTitle", { name: user.name })}
      submit={t("users.setPassword")}
      busy={save.isPending}
      fault={<FaultText error={save.error} />}
      disabled={!isWhole(password)}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <Hint>{t("users.resetHint")}</Hint>
      <NewPassword value={password} onChange={setPassword} />
    </FormDialog>
  );
}
