import { Button, Menu } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { changeUser } from "@/api/access/queries";
import type { User, UserPatch } from "@/api/access/types";
import { serverNow } from "@/api/server-clock";
import { useNow } from "@/lib/time/use-now";
import { useTimes } from "@/lib/time/use-times";
import { Icon } from "@/ui/icon";
import { IconButton } from "@/ui/icon-button";
import { Card, CardHead, CardTools } from "@/ui/list/card";
import { StateMark } from "@/ui/state-mark";
import { Tag } from "@/ui/text/tag";
import { Dim, Hint, NameLine } from "@/ui/text/text";
import { useChange } from "@/ui/use-change";
import { FaultText } from "../fault-text";

export type UserTask = "edit" | "password" | "sessions" | "delete";

interface Props {
  readonly user: User;
  readonly isMe: boolean;
  readonly onTask: (task: UserTask) => void;
}

/** One user: role, state, and what can be done. */
export function UserRow({ user, isMe, onTask }: Props) {
  const { t } = useTranslation();
  const times = useTimes();
  const now = useNow(serverNow, 1000);
  const change = useChange((patch: UserPatch) => changeUser(user.id, patch), {
    touches: ["access"],
    said: t("users.saved"),
  });
  const locked = user.locked_until_ms !== null && user.locked_until_ms > now ? user.locked_until_ms - now : null;
  const facts = [
    t(`users.source_${user.source}`),
    ...(user.source === "password" ? [] : [t(`users.roleFrom_${user.role_source}`)]),
    user.last_seen_ms === null ? t("users.neverSeen") : t("users.seen", { span: times.span(now - user.last_seen_ms) }),
    t("users.sessionCount", { sessions: user.sessions }),
  ];
  return (
    <Card data-user={user.name}>
      <CardHead>
        <NameLine>
          {user.name}
          {user.full_name !== "" && <Dim>{user.full_name}</Dim>}
          {isMe && <Tag>{t("users.you")}</Tag>}
        </NameLine>
        <CardTools>
          <Button
            size="compact-sm"
            variant="default"
            onClick={() => onTask("edit")}
            aria-label={`${t("action.edit")}: ${user.name}`}
          >
            {t("action.edit")}
          </Button>
          <UserMenu user={user} isMe={isMe} onTask={onTask} onChange={(patch) => change.mutate(patch)} />
        </CardTools>
      </CardHead>
      <NameLine>
        <Tag>{user.role === "agent" ? user.role : t(`users.role_${user.role}`)}</Tag>
        {user.disabled && <StateMark tone="bad" label={t("users.disabled")} />}
        {locked !== null && <StateMark tone="warn" label={t("users.locked", { span: times.span(locked) })} />}
        {locked !== null && (
          <Button
            size="compact-xs"
            variant="default"
            loading={change.isPending}
            onClick={() => change.mutate({ unlock: true })}
            aria-label={`${t("users.unlock")}: ${user.name}`}
          >
            {t("users.unlock")}
          </Button>
        )}
      </NameLine>
      <Hint>{facts.join(" · ")}</Hint>
      <FaultText error={change.error} />
    </Card>
  );
}

function UserMenu({ user, isMe, onTask, onChange }: Props & { readonly onChange: (patch: UserPatch) => void }) {
  const { t } = useTranslation();
  return (
    <Menu position="bottom-end" withinPortal={false}>
      <Menu.Target>
        <IconButton icon="more" label={`${t("users.more")}: ${user.name}`} />
      </Menu.Target>
      <Menu.Dropdown>
        {user.source === "password" && (
          <Menu.Item leftSection={<Icon name="key" size={14} />} onClick={() => onTask("password")}>
            {t("users.resetPassword")}
          </Menu.Item>
        )}
        <Menu.Item leftSection={<Icon name="globe" size={14} />} onClick={() => onTask("sessions")}>
          {t("users.sessions")}
        </Menu.Item>
        {!isMe && (
          <Menu.Item
            leftSection={<Icon name={user.disabled ? "check" : "stop"} size={14} />}
            onClick={() => onChange({ disabled: !user.disabled })}
          >
            {t(user.disabled ? "users.enable" : "users.disable")}
          </Menu.Item>
        )}
        {!isMe && (
          <Menu.Item leftSection={<Icon name="trash" size={14} />} onClick={() => onTask("delete")}>
            {t("action.delete")}…
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
