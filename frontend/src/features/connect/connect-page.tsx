import { Button } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { connectionsQuery, lookAgain } from "@/api/connect/queries";
import { useMay } from "@/lib/access-scopes";
import { useTimes } from "@/lib/time/use-times";
import { sortListeners } from "@/panels/connect/model";
import { FaultText } from "@/ui/fault/problem";
import { QueryFault } from "@/ui/fault/query-fault";
import { Loading } from "@/ui/loading";
import { PageHead } from "@/ui/page/page-head";
import { PageMessage } from "@/ui/page-message";
import { useChange } from "@/ui/use-change";
import classes from "./connect.module.css";
import { DatabaseAccount } from "./database-account";
import { ListenerList } from "./listener-list";
import { OtherHosts } from "./other-hosts";

/** What listens on the agent's host, and having it watched. */
export function ConnectPage() {
  const { t } = useTranslation();
  const may = useMay("admin");
  const connections = useQuery({ ...connectionsQuery, enabled: may });
  const client = useQueryClient();
  const again = useChange(lookAgain, {
    touches: [],
    onDone: (seen) => client.setQueryData(connectionsQuery.queryKey, seen),
  });
  const times = useTimes();
  const { data } = connections;
  return (
    <>
      <PageHead
        title={t("connect.title")}
        aside={data?.host && t("connect.host", { host: data.host, time: times.instant(data.looked_ms) })}
        actions={
          may && (
            <Button size="xs" variant="default" loading={again.isPending} onClick={() => again.mutate()}>
              {t("connect.again")}
            </Button>
          )
        }
      />
      {!may && <PageMessage icon="key" title={t("connect.askAdministrator")} />}
      <QueryFault title={t("connect.failed")} query={connections} />
      <FaultText error={again.error} what={t("connect.failed")} />
      {may && connections.isPending && <Loading height={320} label={t("connect.looking")} />}
      {data !== undefined && data.agent !== "elsewhere" && (
        <ListenerList connections={data} listeners={sortListeners(data.listeners)} />
      )}
      {(!may || !connections.isPending) && (
        <div className={classes.sections}>
          <OtherHosts elsewhere={data?.agent === "elsewhere"} />
          <DatabaseAccount />
        </div>
      )}
    </>
  );
}
