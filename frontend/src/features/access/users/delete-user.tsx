import { useTranslation } from "react-i18next";
import { deleteUser } from "@/api/access/queries";
import type { User } from "@/api/access/types";
import { FormDialog } from "@/ui/form/dialog";
import { Hint } from "@/ui/text/text";
import { useChange } from "@/ui/use-change";
import { FaultText } from "../fault-text";

/** Asks before a user goes for good. */
export function DeleteUser({ user, onClose }: { user: User; onClose: () => void }) {
  const { t } = useTranslation();
  const remove = useChange(() => deleteUser(user.id), {
    touches: ["access"],
    said: t("users.deleted"),
    onDone: onClose,
  });
  return (
    <FormDialog
      title={t("users.deleteTitle", { name: user.name })}
      submit={t("users.deleteConfirm")}
      busy={remove.isPending}
      fault={<FaultText error={remove.error} />}
      danger
      onSubmit={() => remove.mutate()}
      onClose={onClose}
    >
      <Hint>{t("users.deleteHint", { sessions: user.sessions })}</Hint>
    </FormDialog>
  );
}
