import { Button } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { receiversQuery, reloadRouting, routingQuery } from "@/api/notify/queries";
import type { Routing } from "@/api/notify/types";
import { useMay } from "@/lib/access-scopes";
import { useTimes } from "@/lib/time/use-times";
import { FaultText } from "@/ui/fault/problem";
import { QueryFault } from "@/ui/fault/query-fault";
import { Icon } from "@/ui/icon";
import { Loading } from "@/ui/loading";
import { notifyGood } from "@/ui/notify";
import { Section } from "@/ui/page/section";
import { PageMessage } from "@/ui/page-message";
import { litRoutes } from "../model/routes";
import classes from "../notify.module.css";
import { NotifyPage } from "../notify-page";
import { BuiltInHint } from "./built-in-hint";
import { RouteParts } from "./route-parts";
import { RouteQuestion } from "./route-question";
import { RouteTree } from "./route-tree";
import { useRouteQuestion } from "./use-route-question";

const REFRESH_MS = 5000;

/** Who is told of what: the tree of routes, and where given labels would go. */
export function RoutesPage() {
  const { t } = useTranslation();
  const times = useTimes();
  const routing = useQuery({ ...routingQuery, refetchInterval: REFRESH_MS });
  const receivers = useQuery({ ...receiversQuery, refetchInterval: REFRESH_MS });
  const question = useRouteQuestion();
  const silent = new Set(
    receivers.data?.receivers.filter((one) => one.integrations.length === 0).map((one) => one.name) ?? [],
  );
  const data = routing.data;
  return (
    <NotifyPage
      title={t("notify.routes.title")}
      aside={data && t("notify.routes.loaded", { time: times.instant(data.loaded_ms) })}
      actions={<Reload />}
    >
      <QueryFault title={t("notify.routes.failed")} query={routing} />
      {routing.isPending && <Loading height={320} label={t("notify.loading")} />}
      {data && (
        <BrokenFile routing={data} unheard={receivers.data?.receivers.every((one) => silent.has(one.name)) ?? false} />
      )}
      {data && data.path === null && <BuiltInHint />}
      {data && (
        <div className={classes.columns}>
          <Section title={t("notify.routes.tree")}>
            {data.path !== null && <p className={classes.path}>{data.path}</p>}
            <RouteTree root={data.root} lit={litRoutes(question.answer.data)} silent={silent} />
          </Section>
          <RouteQuestion question={question} root={data.root} />
        </div>
      )}
      {data && <RouteParts routing={data} />}
    </NotifyPage>
  );
}

function Reload() {
  const { t } = useTranslation();
  const may = useMay("admin");
  const client = useQueryClient();
  const reload = useMutation({
    mutationFn: reloadRouting,
    onSuccess: (routing) => {
      client.setQueryData(routingQuery.queryKey, routing);
      if (routing.error === "") notifyGood(t("notify.routes.reloaded"));
    },
  });
  if (!may) return null;
  return (
    <>
      <FaultText error={reload.error} />
      <Button
        size="xs"
        variant="default"
        leftSection={<Icon name="undo" size={14} />}
        loading={reload.isPending}
        onClick={() => reload.mutate()}
      >
        {t("notify.routes.reload")}
      </Button>
    </>
  );
}

/** `unheard`: what is in force meanwhile tells nobody, as when the file was broken at the start. */
function BrokenFile({ routing, unheard }: { routing: Routing; unheard: boolean }) {
  const { t } = useTranslation();
  const times = useTimes();
  if (routing.error === "") return null;
  const place = routing.line === null ? (routing.path ?? "") : `${routing.path ?? ""}:${routing.line}`;
  return (
    <PageMessage icon="warning" title={t("notify.routes.broken")} role="alert">
      <p className={classes.code}>{routing.error.startsWith(place) ? routing.error : `${place}: ${routing.error}`}</p>
      <p>
        {unheard
          ? t("notify.routes.brokenUnheard")
          : t("notify.routes.brokenHint", { time: times.instant(routing.loaded_ms) })}
      </p>
    </PageMessage>
  );
}
