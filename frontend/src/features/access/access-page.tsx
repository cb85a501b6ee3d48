import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { NavLink, useSearchParams } from "react-router";
import { sessionQuery } from "@/api/queries";
import { useMay } from "@/lib/access-scopes";
import { PageHead } from "@/ui/page/page-head";
import { PageMessage } from "@/ui/page-message";
import bar from "@/ui/tab-bar.module.css";
import { OpenAccess } from "./open-access";

const TABS = [
  ["users", "/access", true],
  ["tokens", "/access/tokens", true],
  ["audit", "/access/audit", true],
  ["account", "/access/account", false],
] as const;

interface Props {
  readonly id: (typeof TABS)[number][0];
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** Tabs, title and buttons of one of the pages about access. Those for administrators say so to everybody else. */
export function AccessPage({ id, actions, children }: Props) {
  const { t } = useTranslation();
  const admin = useMay("admin");
  const session = useQuery(sessionQuery);
  const refused = !admin && TABS.some(([name, , guarded]) => name === id && guarded);
  return (
    <>
      <AccessNav admin={admin} />
      <PageHead title={t(`users.tab_${id}`)} actions={!refused && actions} />
      {session.data && <OpenAccess access={session.data.access} />}
      {refused ? (
        <PageMessage icon="key" title={t("users.adminOnly")}>
          <p>{t("users.adminOnlyHint")}</p>
        </PageMessage>
      ) : (
        children
      )}
    </>
  );
}

function AccessNav({ admin }: { admin: boolean }) {
  const { t } = useTranslation();
  const [params] = useSearchParams();
  const zone = params.get("tz");
  return (
    <nav className={bar.bar} aria-label={t("users.navLabel")}>
      {TABS.filter(([, , guarded]) => admin || !guarded).map(([name, path]) => (
        <NavLink key={name} to={zone === null ? path : `${path}?tz=${zone}`} end className={bar.tab ?? ""}>
          {t(`users.tab_${name}`)}
        </NavLink>
      ))}
    </nav>
  );
}
