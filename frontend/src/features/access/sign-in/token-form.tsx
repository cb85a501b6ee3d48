import { Button, PasswordInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { signIn } from "@/api/queries";
import type { Session } from "@/api/types";
import { CommandLine } from "@/ui/command-line";
import classes from "./sign-in-page.module.css";
import { useSignInFault } from "./use-sign-in-fault";

interface Props {
  readonly onEnter: (session: Session) => void;
  /** Whether to say how to come by a token. */
  readonly explained: boolean;
}

/** Exchanges a token for a session. */
export function TokenForm({ onEnter, explained }: Props) {
  const { t } = useTranslation();
  const [token, setToken] = useState("");
  const login = useMutation({ mutationFn: signIn, onSuccess: onEnter });
  const fault = useSignInFault(login.error, `${t("signIn.wrong")}. ${t("signIn.wrongHint")}`);
  return (
    <>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          login.mutate(token.trim());
        }}
      >
        <PasswordInput
          label={t("signIn.token")}
          value={token}
          onChange={(event) => setToken(event.currentTarget.value)}
          error={fault}
          errorProps={{ role: "alert" }}
          autoComplete="off"
          data-autofocus
          required
          withAsterisk={false}
          visibilityToggleButtonProps={{ "aria-label": t("users.showPassword") }}
        />
        <Button type="submit" mt="md" fullWidth loading={login.isPending} disabled={token.trim() === ""}>
          {t("signIn.submit")}
        </Button>
      </form>
      {explained && (
        <>
          <p className={classes.how}>{t("signIn.how")}</p>
          <CommandLine text="loadwatch token create --role admin --name me" />
        </>
      )}
    </>
  );
}
