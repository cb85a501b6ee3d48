import { useTranslation } from "react-i18next";
import type { PoolGroup, PoolMember } from "@/api/pools/types";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { Table } from "@/ui/list/table";
import { useSettingText } from "./setting-text";

const COLUMNS = ["max_open", "max_idle", "lifetime", "idle_time", "used", "waits", "wait", "hold"] as const;

/** web-2 stands before web-10. */
const BY_NAME = new Intl.Collator("en", { numeric: true });

/** How each instance is set, and what its pool did in the window. */
export function MemberTable({ group }: { group: PoolGroup }) {
  const { t } = useTranslation();
  const members = group.members.toSorted((one, other) => BY_NAME.compare(one.instance, other.instance));
  return (
    <Table bare label={t("pools.members")}>
      <thead>
        <tr>
          <th scope="col">{t("pools.member_instance")}</th>
          {COLUMNS.map((column) => (
            <th key={column} scope="col" data-number="true">
              {t(`pools.member_${column}`)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {members.map((member) => (
          <Row key={member.instance} member={member} />
        ))}
      </tbody>
    </Table>
  );
}

function Row({ member }: { member: PoolMember }) {
  const locale = useLocale();
  const text = useSettingText();
  const hold = member.demand?.hold_seconds ?? null;
  const wait = member.waits > 0 ? member.wait_seconds / member.waits : null;
  const cells: Readonly<Record<(typeof COLUMNS)[number], string>> = {
    max_open: text("max_open", member.max_open),
    max_idle: text("max_idle", member.max_idle),
    lifetime: text("lifetime", member.lifetime_seconds),
    idle_time: text("idle_time", member.idle_seconds),
    used: formatValue(member.most_used, "count", locale),
    waits: formatValue(Math.round(member.waits), "count", locale),
    wait: wait === null ? "–" : formatValue(wait, "seconds", locale),
    hold: hold === null ? "–" : formatValue(hold, "seconds", locale),
  };
  return (
    <tr>
      <th scope="row">{member.instance}</th>
      {COLUMNS.map((column) => (
        <td key={column} data-number="true">
          {cells[column]}
        </td>
      ))}
    </tr>
  );
}
