import { Switch, TextInput } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { changeUser } from "@/api/access/queries";
import type { User } from "@/api/access/types";
import { FormDialog } from "@/ui/form/dialog";
import { useChange } from "@/ui/use-change";
import { FaultText } from "../fault-text";
import { RoleField } from "./role-field";

/** Full name and role. */
export function EditUser({ user, onClose }: { user: User; onClose: () => void }) {
  const { t } = useTranslation();
  const [fullName, setFullName] = useState(user.full_name);
  const [role, setRole] = useState(user.role);
  const elsewhere = user.source !== "password";
  const [byHand, setByHand] = useState(!elsewhere || user.role_source === "hand");
  const given = byHand ? { role } : { role_by_hand: false };
  const unchanged = byHand === (user.role_source === "hand") && role === user.role;
  const save = useChange(() => changeUser(user.id, { full_name: fullName.trim(), ...(unchanged ? {} : given) }), {
    touches: ["access"],
    said: t("users.saved"),
    onDone: onClose,
  });
  return (
    <FormDialog
      title={t("users.editTitle", { name: user.name })}
      submit={t("action.save")}
      busy={save.isPending}
      fault={<FaultText error={save.error} />}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <TextInput
        label={t("users.fullName")}
        value={fullName}
        onChange={(event) => setFullName(event.currentTarget.value)}
        autoComplete="off"
        maxLength={200}
        data-autofocus
      />
      {elsewhere && (
        <Switch
          label={t("users.roleByHand")}
          description={t("users.roleByHandHint")}
          checked={byHand}
          onChange={(event) => setByHand(event.currentTarget.checked)}
        />
      )}
      {byHand && <RoleField value={role} onChange={setRole} />}
    </FormDialog>
  );
}
