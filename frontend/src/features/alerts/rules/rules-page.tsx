import { Button } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { reloadRules, rulesQuery } from "@/api/alerts/queries";
import type { RuleList } from "@/api/alerts/types";
import { serverNow } from "@/api/server-clock";
import { useMay } from "@/lib/access-scopes";
import { useNow } from "@/lib/time/use-now";
import { useParams, withParams } from "@/lib/use-params";
import { AlertsNav } from "@/panels/alerts-nav";
import { faultText } from "@/ui/fault/problem";
import { QueryFault } from "@/ui/fault/query-fault";
import { Icon } from "@/ui/icon";
import { FilterBar } from "@/ui/list/filter-bar";
import { SearchField } from "@/ui/list/search-field";
import { Loading } from "@/ui/loading";
import { notifyGood, notifyProblem } from "@/ui/notify";
import { PageHead } from "@/ui/page/page-head";
import { PageMessage } from "@/ui/page-message";
import { useRules } from "../list/watched-line";
import { groupRank, rulesFound } from "../model/text";
import { RuleFiles } from "./rule-files";
import { RuleGroupPanel } from "./rule-group";
import classes from "./rules-page.module.css";

const REFRESH_MS = 3000;

/** Rule files and rules in force, each with its state and its last evaluation. */
export function RulesPage() {
  const { t } = useTranslation();
  const rules = useRules(REFRESH_MS);
  const [params, edit] = useParams();
  const search = params.get("search") ?? "";
  const change = (text: string) => edit((held) => withParams(held, { search: text || null }), true);
  return (
    <>
      <AlertsNav />
      <PageHead
        title={t("alerts.rules.title")}
        aside={rules.data && <Total list={rules.data} />}
        actions={<ReloadButton />}
      />
      <FilterBar>
        <SearchField value={search} label={t("alerts.rules.search")} onChange={change} />
      </FilterBar>
      <div className={classes.page}>
        <QueryFault title={t("alerts.rules.failed")} query={rules} />
        {rules.isPending && <Loading height={260} label={t("alerts.loading")} />}
        {rules.data && <Found list={rules.data} search={search} />}
      </div>
    </>
  );
}

function Total({ list }: { list: RuleList }) {
  const { t } = useTranslation();
  const total = list.groups.reduce((sum, group) => sum + group.rules.length, 0);
  return t("alerts.rules.total", { total, groups: list.groups.length });
}

function Found({ list, search }: { list: RuleList; search: string }) {
  const { t } = useTranslation();
  const now = useNow(serverNow);
  const groups = list.groups
    .map((group) => ({ group, rules: rulesFound(group.rules, search) }))
    .filter(({ rules }) => rules.length > 0)
    .toSorted((a, b) => groupRank(a.rules) - groupRank(b.rules));
  const builtIn = new Set(list.files.filter((file) => file.built_in).map((file) => file.path));
  const place = (file: string) => (builtIn.has(file) ? t("alerts.rules.builtInPlace", { name: file }) : file);
  return (
    <>
      <RuleFiles files={list.files} />
      {groups.map(({ group, rules }) => (
        <RuleGroupPanel
          key={`${group.file} ${group.name}`}
          group={group}
          place={place(group.file)}
          rules={rules}
          now={now}
          found={search !== ""}
        />
      ))}
      {groups.length === 0 && (
        <PageMessage icon="search" title={search === "" ? t("alerts.noRules") : t("alerts.rules.nothing")}>
          {search === "" && <p>{t("alerts.noRulesHint")}</p>}
        </PageMessage>
      )}
    </>
  );
}

/** Reads the files now; for administrators. It also happens by itself within a second of a change. */
function ReloadButton() {
  const { t } = useTranslation();
  const may = useMay("admin");
  const client = useQueryClient();
  const reload = useMutation({
    mutationFn: reloadRules,
    onSuccess: (list) => {
      client.setQueryData(rulesQuery.queryKey, list);
      notifyGood(t("alerts.rules.reloaded"));
    },
    onError: (error) => notifyProblem(t("alerts.rules.reloadFailed"), faultText(error, t)),
  });
  if (!may) return null;
  return (
    <Button
      variant="default"
      className={classes.tool ?? ""}
      leftSection={<Icon name="undo" size={14} />}
      loading={reload.isPending}
      title={t("alerts.rules.reloadHint")}
      onClick={() => reload.mutate()}
    >
      {t("alerts.rules.reload")}
    </Button>
  );
}
