import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Navigate, useLocation } from "react-router";
import { usersQuery } from "@/api/access/queries";
import type { User } from "@/api/access/types";
import { sessionQuery } from "@/api/queries";
import { useMay } from "@/lib/access-scopes";
import { QueryFault } from "@/ui/fault/query-fault";
import { Icon } from "@/ui/icon";
import { Cards } from "@/ui/list/card";
import { Loading } from "@/ui/loading";
import { PageMessage } from "@/ui/page-message";
import { AccessPage } from "../access-page";
import { AddUser } from "./add-user";
import { DeleteUser } from "./delete-user";
import { EditUser } from "./edit-user";
import { ResetPassword } from "./reset-password";
import { UserRow, type UserTask } from "./user-row";
import { UserSessions } from "./user-sessions";

/** Who may sign in, and as what. */
export function UsersPage() {
  const { search } = useLocation();
  const admin = useMay("admin");
  // The navigation leads everybody here; what there is for others is their own account.
  return admin ? <UserAdministration /> : <Navigate to={{ pathname: "/access/account", search }} replace />;
}

function UserAdministration() {
  const { t } = useTranslation();
  const session = useQuery(sessionQuery);
  const users = useQuery({ ...usersQuery, refetchInterval: 10_000 });
  const [adding, setAdding] = useState(false);
  const [task, setTask] = useState<{ readonly what: UserTask; readonly user: User } | null>(null);
  const close = () => setTask(null);
  const me = session.data?.principal?.kind === "user" ? session.data.principal.name : null;
  const list = users.data?.users ?? [];
  return (
    <AccessPage
      id="users"
      actions={
        <Button size="xs" leftSection={<Icon name="plus" size={14} />} onClick={() => setAdding(true)}>
          {t("users.add")}
        </Button>
      }
    >
      <QueryFault title={t("users.failed")} query={users} />
      {users.isPending && <Loading height={200} label={t("users.loading")} />}
      {users.data && list.length === 0 && (
        <PageMessage icon="people" title={t("users.none")}>
          <p>{t("users.noneHint")}</p>
        </PageMessage>
      )}
      <Cards aria-label={t("users.tab_users")}>
        {list.map((user) => (
          <UserRow key={user.id} user={user} isMe={user.name === me} onTask={(what) => setTask({ what, user })} />
        ))}
      </Cards>
      {adding && <AddUser onClose={() => setAdding(false)} />}
      {task?.what === "edit" && <EditUser user={task.user} onClose={close} />}
      {task?.what === "password" && <ResetPassword user={task.user} onClose={close} />}
      {task?.what === "sessions" && <UserSessions user={task.user} onClose={close} />}
      {task?.what === "delete" && <DeleteUser user={task.user} onClose={close} />}
    </AccessPage>
  );
}
