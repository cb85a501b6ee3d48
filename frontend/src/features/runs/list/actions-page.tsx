import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { openActionsQuery } from "@/api/runs/queries";
import type { ActionLine } from "@/api/runs/types";
import { ActionFacts } from "@/panels/actions/action-facts";
import { ScoreList } from "@/panels/actions/score-list";
import { QueryFault } from "@/ui/fault/query-fault";
import { Card, Cards } from "@/ui/list/card";
import { Loading } from "@/ui/loading";
import { PageHead } from "@/ui/page/page-head";
import { PageMessage } from "@/ui/page-message";
import { Dim, Hint, NameLine } from "@/ui/text/text";

/** What the team decided to do and has not done, over all runs: what is due first. */
export function ActionsPage() {
  const { t } = useTranslation();
  const query = useQuery({ ...openActionsQuery, refetchInterval: 30_000 });
  const { data } = query;
  const more = data === undefined ? 0 : data.total - data.actions.length;
  return (
    <>
      <PageHead title={t("actions.open")} aside={data && t("runs.total", { total: data.total })} />
      <QueryFault title={t("actions.openFailed")} query={query} />
      {query.isPending && <Loading height={320} />}
      {data?.total === 0 && (
        <PageMessage icon="check" title={t("actions.openNone")}>
          <p>{t("actions.openNoneHint")}</p>
        </PageMessage>
      )}
      {data !== undefined && data.total > 0 && (
        <Cards aria-label={t("actions.open")}>
          {data.actions.map((action) => (
            <OpenAction key={`${action.run} ${action.id}`} action={action} />
          ))}
        </Cards>
      )}
      {more > 0 && <Hint>{t("actions.openMore", { count: more })}</Hint>}
    </>
  );
}

function OpenAction({ action }: { action: ActionLine }) {
  const { t } = useTranslation();
  return (
    <Card>
      <NameLine>{action.text}</NameLine>
      <ActionFacts action={action} />
      <p>
        <Link to={`/runs/${action.run}#review`}>{t("actions.earlierOf", { run: action.run_name || action.run })}</Link>
        {action.scenario !== "" && <Dim> {action.scenario}</Dim>}
      </p>
      {action.score === null && action.expected !== "" && <Dim>{t("actions.notScored")}</Dim>}
      <ScoreList scores={action.score === null ? [] : [action.score]} />
    </Card>
  );
}
