import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import type { AlertList } from "@/api/alerts/types";
import { PageMessage } from "@/ui/page-message";
import { Tag, Tags } from "@/ui/text/tag";
import { Dim } from "@/ui/text/text";
import { alertingGroups, useRules, WatchedLine } from "./watched-line";

/** Nothing fires: what is watched, so that quiet can be told from blind. */
export function AllQuiet({ list, now }: { list: AlertList; now: number }) {
  const { t } = useTranslation();
  const rules = useRules();
  const groups = alertingGroups(rules.data);
  if (rules.data !== undefined && groups.length === 0) {
    return (
      <PageMessage icon="unknown" title={t("alerts.noRules")}>
        <p>{t("alerts.noRulesHint")}</p>
      </PageMessage>
    );
  }
  return (
    <PageMessage icon="check" title={t("alerts.allQuiet")}>
      <WatchedLine list={list} now={now} />
      {groups.length > 0 && (
        <Tags label={t("alerts.watchedLabel")}>
          {groups.map((group) => (
            <li key={`${group.file} ${group.name}`}>
              <Tag>
                {group.name} <Dim>{group.rules.length}</Dim>
              </Tag>
            </li>
          ))}
        </Tags>
      )}
      <p>
        <Link to="/alerts/history">{t("alerts.toHistory")}</Link>
      </p>
    </PageMessage>
  );
}
