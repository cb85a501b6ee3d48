import { Button, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useLocation, useNavigate } from "react-router";
import { setUpFirstUser } from "@/api/access/queries";
import { sessionQuery } from "@/api/queries";
import type { Session } from "@/api/types";
import { usePageTitle } from "@/ui/page/use-page-title";
import { FaultText } from "../fault-text";
import { isWhole, NewPassword, NO_PASSWORD } from "../new-password";
import classes from "./sign-in-page.module.css";

/** The secret stands behind the # of the link, so that no server log ever holds it; a pasted link will do too. */
function secretOf(text: string): string {
  return text.slice(text.lastIndexOf("#") + 1).trim();
}

/** Makes the first administrator, by the one-time link out of the server's log. */
export function SetupPage({ session }: { session: Session }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const navigate = useNavigate();
  const { hash } = useLocation();
  const [given, setGiven] = useState("");
  const [name, setName] = useState("");
  const [password, setPassword] = useState(NO_PASSWORD);
  const linked = secretOf(hash);
  const secret = linked === "" ? secretOf(given) : linked;
  usePageTitle(t("users.setup.title"));
  const setup = useMutation({
    mutationFn: () => setUpFirstUser(secret, name.trim(), password.first),
    onSuccess: async (next) => {
      client.setQueryData(sessionQuery.queryKey, next);
      await navigate("/", { replace: true });
      await client.invalidateQueries();
    },
  });
  if (!session.setup) return <SetUpAlready signedIn={session.principal !== null} />;
  return (
    <main className={classes.page}>
      <form
        className={classes.form}
        onSubmit={(event) => {
          event.preventDefault();
          setup.mutate();
        }}
      >
        <h1 className={classes.title}>{t("users.setup.title")}</h1>
        <p className={classes.lead}>{t("users.setup.lead")}</p>
        <div className={classes.fields}>
          {linked === "" && (
            <TextInput
              label={t("users.setup.link")}
              description={t("users.setup.linkHint")}
              value={given}
              onChange={(event) => setGiven(event.currentTarget.value)}
              autoComplete="off"
              spellCheck={false}
              required
              withAsterisk={false}
            />
          )}
          <TextInput
            label={t("users.name")}
            description={t("users.nameHint")}
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
          <NewPassword value={password} onChange={setPassword} />
          <FaultText error={setup.error} />
          <Button
            type="submit"
            fullWidth
            loading={setup.isPending}
            disabled={secret === "" || name.trim() === "" || !isWhole(password)}
          >
            {t("users.setup.submit")}
          </Button>
        </div>
      </form>
    </main>
  );
}

function SetUpAlready({ signedIn }: { signedIn: boolean }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  return (
    <main className={classes.page}>
      <div className={classes.form}>
        <h1 className={classes.title}>{t("users.setup.title")}</h1>
        <p className={classes.lead}>{t("users.setup.done")}</p>
        <Button fullWidth onClick={() => void navigate("/")}>
          {t(signedIn ? "error.toLive" : "signIn.submit")}
        </Button>
      </div>
    </main>
  );
}
