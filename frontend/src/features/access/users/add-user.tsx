import { TextInput } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { addUser } from "@/api/access/queries";
import type { Role } from "@/api/access/types";
import { FormDialog } from "@/ui/form/dialog";
import { useChange } from "@/ui/use-change";
import { FaultText } from "../fault-text";
import { isWhole, NewPassword, NO_PASSWORD } from "../new-password";
import { RoleField } from "./role-field";

/** A new user, who signs in with a password. */
export function AddUser({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const [name, setName] = useState("");
  const [fullName, setFullName] = useState("");
  const [role, setRole] = useState<Role>("viewer");
  const [password, setPassword] = useState(NO_PASSWORD);
  const add = useChange(
    () => addUser({ name: name.trim(), full_name: fullName.trim(), role, password: password.first }),
    { touches: ["access"], said: t("users.added", { name: name.trim() }), onDone: onClose },
  );
  return (
    <FormDialog
      title={t("users.add")}
      submit={t("action.add")}
      busy={add.isPending}
      fault={<FaultText error={add.error} />}
      disabled={name.trim() === "" || !isWhole(password)}
      onSubmit={() => add.mutate()}
      onClose={onClose}
    >
      <TextInput
        label={t("users.name")}
        description={t("users.nameHint")}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        maxLength={100}
        data-autofocus
        required
        withAsterisk={false}
      />
      <TextInput
        label={t("users.fullName")}
        value={fullName}
        onChange={(event) => setFullName(event.currentTarget.value)}
        autoComplete="off"
        maxLength={200}
      />
      <RoleField value={role} onChange={setRole} />
      <NewPassword value={password} onChange={setPassword} />
    </FormDialog>
  );
}
