import { Button, PasswordInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { changeOwnPassword, endOwnSession, ownSessionsQuery } from "@/api/access/queries";
import { sessionQuery } from "@/api/queries";
import type { Session } from "@/api/types";
import { Buttons, Form } from "@/ui/form/form";
import { Icon } from "@/ui/icon";
import { Loading } from "@/ui/loading";
import { notifyGood } from "@/ui/notify";
import { Section } from "@/ui/page/section";
import { Tag } from "@/ui/text/tag";
import { Hint, NameLine } from "@/ui/text/text";
import { useChange } from "@/ui/use-change";
import classes from "./access.module.css";
import { AccessPage } from "./access-page";
import { FaultText } from "./fault-text";
import { useLeave } from "./model/leave";
import { SCOPES, useScopeWords } from "./model/use-scope-words";
import { isWhole, NewPassword, NO_PASSWORD } from "./new-password";
import { SessionList } from "./session-list";

/** One's own role, password and sessions. */
export function AccountPage() {
  const session = useQuery(sessionQuery);
  const principal = session.data?.principal;
  return (
    <AccessPage id="account">
      {session.data && principal && session.data.access !== "open" && (
        <div className={classes.columns}>
          <Myself session={session.data} />
          <OwnSessions />
          {principal.kind === "user" && session.data.ways.password && <OwnPassword name={principal.name} />}
        </div>
      )}
    </AccessPage>
  );
}

function Myself({ session }: { session: Session }) {
  const { t } = useTranslation();
  const words = useScopeWords();
  const leave = useLeave();
  const principal = session.principal;
  if (principal === null) return null;
  const { role } = principal;
  return (
    <Section title={principal.name}>
      {role !== null && role !== "agent" && (
        <NameLine>
          <Tag>{t(`users.role_${role}`)}</Tag>
        </NameLine>
      )}
      {principal.kind === "token" && <Hint>{t("users.byToken")}</Hint>}
      <Hint>{t("users.mayDo")}</Hint>
      <ul className={classes.plain}>
        {SCOPES.filter((scope) => principal.scopes.includes(scope)).map((scope) => (
          <li key={scope}>{words(scope).hint}</li>
        ))}
      </ul>
      <Button size="xs" variant="default" leftSection={<Icon name="signOut" size={14} />} onClick={() => void leave()}>
        {t("settings.signOut")}
      </Button>
    </Section>
  );
}

function OwnSessions() {
  const { t } = useTranslation();
  const client = useQueryClient();
  const leave = useLeave();
  const sessions = useQuery({ ...ownSessionsQuery, refetchInterval: 10_000 });
  const end = useChange(endOwnSession, { touches: ["access"], said: t("users.sessionEnded") });
  const endAll = useMutation({
    mutationFn: async () => {
      const { sessions: all } = await client.fetchQuery({ ...ownSessionsQuery, staleTime: 0 });
      await Promise.all(all.filter((one) => !one.current).map((one) => endOwnSession(one.id)));
      // This one last: without it the others could not be ended.
      await leave();
    },
  });
  return (
    <Section title={t("users.ownSessions")}>
      {sessions.isPending && <Loading height={96} label={t("users.loading")} />}
      <FaultText error={sessions.error ?? end.error ?? endAll.error} />
      {sessions.data && (
        <>
          <SessionList
            sessions={sessions.data.sessions}
            busy={end.isPending || endAll.isPending}
            onEnd={(one) => end.mutate(one.id)}
          />
          <Button size="xs" mt="sm" variant="default" loading={endAll.isPending} onClick={() => endAll.mutate()}>
            {t("users.signOutAll")}
          </Button>
        </>
      )}
    </Section>
  );
}

function OwnPassword({ name }: { name: string }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const [current, setCurrent] = useState("");
  const [password, setPassword] = useState(NO_PASSWORD);
  const save = useMutation({
    mutationFn: () => changeOwnPassword(current, password.first),
    onSuccess: async (session) => {
      notifyGood(t("users.passwordSet"));
      setCurrent("");
      setPassword(NO_PASSWORD);
      client.setQueryData(sessionQuery.queryKey, session);
      await client.invalidateQueries({ queryKey: ownSessionsQuery.queryKey });
    },
  });
  return (
    <Section title={t("users.ownPassword")}>
      <Form onSubmit={() => save.mutate()}>
        <Hint>{t("users.ownPasswordHint")}</Hint>
        {/* Password managers look for the name beside the password. */}
        <input type="text" name="username" autoComplete="username" value={name} readOnly hidden />
        <PasswordInput
          label={t("users.currentPassword")}
          value={current}
          onChange={(event) => setCurrent(event.currentTarget.value)}
          autoComplete="current-password"
          maxLength={1000}
          required
          withAsterisk={false}
          visibilityToggleButtonProps={{ "aria-label": t("users.showPassword") }}
        />
        <NewPassword value={password} onChange={setPassword} />
        <FaultText error={save.error} />
        <Buttons>
          <Button type="submit" loading={save.isPending} disabled={current === "" || !isWhole(password)}>
            {t("users.changePassword")}
          </Button>
        </Buttons>
      </Form>
    </Section>
  );
}
