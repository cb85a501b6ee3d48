import { Button, PasswordInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { ApiError } from "@/api/client";
import { sessionQuery, signIn } from "@/api/queries";
import { CommandLine } from "@/ui/command-line";
import classes from "./sign-in-page.module.css";

/** Exchanges an administrator's token for a session. */
export function SignInPage() {
  const { t } = useTranslation();
  const client = useQueryClient();
  const [token, setToken] = useState("");
  const login = useMutation({
    mutationFn: signIn,
    onSuccess: (session) => {
      client.setQueryData(sessionQuery.queryKey, session);
      void client.invalidateQueries();
    },
  });
  useEffect(() => {
    document.title = `${t("signIn.title")} · ${t("product")}`;
  }, [t]);
  const problem = () => {
    if (!(login.error instanceof ApiError)) return null;
    if (login.error.status === 401) return `${t("signIn.wrong")}. ${t("signIn.wrongHint")}`;
    if (login.error.code === "offline") return `${t("error.offline")}. ${t("error.offlineHint")}`;
    return `${t("signIn.failed")}: ${login.error.message}`;
  };
  return (
    <main className={classes.page}>
      <form
        className={classes.form}
        onSubmit={(event) => {
          event.preventDefault();
          login.mutate(token.trim());
        }}
      >
        <h1 className={classes.title}>{t("product")}</h1>
        <p className={classes.lead}>{t("signIn.lead")}</p>
        <PasswordInput
          label={t("signIn.token")}
          value={token}
          onChange={(event) => setToken(event.currentTarget.value)}
          error={problem()}
          autoComplete="current-password"
          data-autofocus
          required
          withAsterisk={false}
        />
        <Button type="submit" mt="md" fullWidth loading={login.isPending} disabled={token.trim() === ""}>
          {t("signIn.submit")}
        </Button>
        <p className={classes.how}>{t("signIn.how")}</p>
        <CommandLine
          text="loadwatch token create --role admin --name me"
          copy={t("action.copy")}
          copied={t("action.copied")}
        />
      </form>
    </main>
  );
}
