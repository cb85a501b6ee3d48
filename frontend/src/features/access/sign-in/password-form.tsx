import { Button, PasswordInput, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { signInWithPassword } from "@/api/access/queries";
import type { Session } from "@/api/types";
import { Problem } from "@/ui/fault/problem";
import classes from "./sign-in-page.module.css";
import { useSignInFault } from "./use-sign-in-fault";

/** Exchanges name and password for a session. */
export function PasswordForm({ onEnter }: { onEnter: (session: Session) => void }) {
  const { t } = useTranslation();
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const login = useMutation({ mutationFn: () => signInWithPassword(name.trim(), password), onSuccess: onEnter });
  const fault = useSignInFault(login.error, t("signIn.wrongPassword"));
  return (
    <form
      className={classes.fields}
      onSubmit={(event) => {
        event.preventDefault();
        login.mutate();
      }}
    >
      <TextInput
        label={t("users.name")}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        maxLength={100}
        data-autofocus
        required
        withAsterisk={false}
      />
      <PasswordInput
        label={t("users.password")}
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
        autoComplete="current-password"
        maxLength={1000}
        required
        withAsterisk={false}
        visibilityToggleButtonProps={{ "aria-label": t("users.showPassword") }}
      />
      {fault !== null && <Problem>{fault}</Problem>}
      <Button type="submit" fullWidth loading={login.isPending} disabled={name.trim() === "" || password === ""}>
        {t("signIn.submit")}
      </Button>
    </form>
  );
}
