import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Link, useLocation, useNavigate } from "react-router";
import { sessionQuery } from "@/api/queries";
import type { Session } from "@/api/types";
import { Notice } from "@/ui/page/notice";
import { usePageTitle } from "@/ui/page/use-page-title";
import { PasswordForm } from "./password-form";
import classes from "./sign-in-page.module.css";
import { TokenForm } from "./token-form";

/** Every way to sign in that the server offers. The address stays, so that it opens the page that was asked for. */
export function SignInPage({ session }: { session: Session }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const navigate = useNavigate();
  const { pathname, search } = useLocation();
  const { ways } = session;
  const [byToken, setByToken] = useState(!ways.password && ways.oidc === null);
  usePageTitle(t("signIn.title"));
  const enter = (next: Session) => {
    if (new URLSearchParams(search).has(FAULT))
      void navigate({ pathname, search: withoutFault(search) }, { replace: true });
    client.setQueryData(sessionQuery.queryKey, next);
    void client.invalidateQueries();
  };
  return (
    <main className={classes.page}>
      <div className={classes.form}>
        <h1 className={classes.title}>{t("product")}</h1>
        <p className={classes.lead}>{t(ways.password || ways.oidc !== null ? "signIn.lead" : "signIn.leadToken")}</p>
        {session.setup && (
          <Notice role="note" icon={null}>
            {t("signIn.noUser")} <Link to="/setup">{t("signIn.toSetup")}</Link>
          </Notice>
        )}
        <OidcFault />
        {ways.oidc !== null && <OidcButton name={ways.oidc} />}
        {ways.oidc !== null && ways.password && <p className={classes.or}>{t("signIn.or")}</p>}
        {ways.password && !byToken && <PasswordForm onEnter={enter} />}
        {ways.token && byToken && <TokenForm onEnter={enter} explained={!ways.password} />}
        {ways.token && (ways.password || ways.oidc !== null) && (
          <button type="button" className={classes.other} onClick={() => setByToken(!byToken)}>
            {t(byToken ? "signIn.withPassword" : "signIn.withToken")}
          </button>
        )}
      </div>
    </main>
  );
}

/** The parameter by which the way back from the provider says why it did not lead in. */
const FAULT = "sign_in_error";

function withoutFault(search: string): string {
  const params = new URLSearchParams(search);
  params.delete(FAULT);
  return params.toString();
}

function OidcButton({ name }: { name: string }) {
  const { t } = useTranslation();
  const { pathname, search } = useLocation();
  const rest = withoutFault(search);
  const next = rest === "" ? pathname : `${pathname}?${rest}`;
  return (
    <Button component="a" href={`/api/session/oidc?${new URLSearchParams({ next })}`} fullWidth variant="default">
      {t("signIn.oidc", { name })}
    </Button>
  );
}

const FAULTS = {
  "oidc-state": "state",
  "oidc-not-allowed": "not_allowed",
  "oidc-name-taken": "name_taken",
  "oidc-provider": "provider",
  "oidc-refused": "provider",
  "oidc-token": "provider",
  "user-disabled": "user_disabled",
} as const;

function OidcFault() {
  const { t } = useTranslation();
  const code = new URLSearchParams(useLocation().search).get(FAULT);
  if (code === null) return null;
  const known = Object.entries(FAULTS).find(([one]) => one === code)?.[1];
  const reason = known === undefined ? t("users.oidc_other", { code }) : t(`users.oidc_${known}`);
  return (
    <Notice role="alert" icon={null}>
      {t("signIn.oidcFailed", { reason })}
    </Notice>
  );
}
