import { Radio } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { Role } from "@/api/access/types";
import classes from "../access.module.css";

/** Roles of people; `agent` is for machines, which have tokens. */
export const ROLES = ["viewer", "editor", "admin"] as const;

/** A role, each with what it may do in words. */
export function RoleField({ value, onChange }: { value: Role; onChange: (role: Role) => void }) {
  const { t } = useTranslation();
  return (
    <Radio.Group
      label={t("users.role")}
      value={value}
      onChange={(next) => {
        const role = ROLES.find((one) => one === next);
        if (role !== undefined) onChange(role);
      }}
    >
      <div className={classes.options}>
        {ROLES.map((role) => (
          <Radio key={role} value={role} label={t(`users.role_${role}`)} description={t(`users.roleHint_${role}`)} />
        ))}
      </div>
    </Radio.Group>
  );
}
