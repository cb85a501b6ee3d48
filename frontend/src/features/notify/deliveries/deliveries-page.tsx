import { Button } from "@mantine/core";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { deliveriesQuery } from "@/api/notify/queries";
import { useParams, withParams } from "@/lib/use-params";
import { QueryFault } from "@/ui/fault/query-fault";
import { LoadMore } from "@/ui/list/load-more";
import { Loading } from "@/ui/loading";
import { PageMessage } from "@/ui/page-message";
import { useNarrow } from "@/ui/use-narrow";
import { type DeliveryFilter, decodeDeliveries, encodeDeliveries } from "../model/deliveries";
import { NotifyPage } from "../notify-page";
import { DeliveriesFilters } from "./deliveries-filters";
import { DeliveriesList } from "./deliveries-list";
import { DeliveryDrawer } from "./delivery-drawer";

const REFRESH_MS = 2000;
/** Each refresh asks for every page that was read; beyond these few it would cost more than it tells. */
const LIVE_PAGES = 3;

/** What was sent, is being sent and was given up, newest first. */
export function DeliveriesPage() {
  const { t } = useTranslation();
  const [params, edit] = useParams();
  const filter = decodeDeliveries(params);
  const open = params.get("delivery");
  const narrow = useNarrow();
  const list = useInfiniteQuery({
    ...deliveriesQuery(filter),
    placeholderData: keepPreviousData,
    refetchInterval: (query) => ((query.state.data?.pages.length ?? 0) > LIVE_PAGES ? false : REFRESH_MS),
  });
  const deliveries = list.data?.pages.flatMap((page) => page.deliveries) ?? [];
  const filtered = filter.states.length > 0 || filter.receiver !== "" || filter.search !== "";
  const change = (part: Partial<DeliveryFilter>) =>
    edit((held) => encodeDeliveries({ ...decodeDeliveries(held), ...part }, held), true);
  const show = (id: string | null) => edit((held) => withParams(held, { delivery: id }), id === null);
  return (
    <NotifyPage title={t("notify.deliveries.title")}>
      <QueryFault title={t("notify.deliveries.failed")} query={list} />
      <DeliveriesFilters filter={filter} counts={list.data?.pages[0]?.counts} onChange={change} />
      {list.isPending && <Loading height={280} label={t("notify.loading")} />}
      {list.data && deliveries.length === 0 && !filtered && (
        <PageMessage icon="send" title={t("notify.deliveries.none")}>
          <p>{t("notify.deliveries.noneHint")}</p>
        </PageMessage>
      )}
      {list.data && deliveries.length === 0 && filtered && (
        <PageMessage
          icon="search"
          title={t("notify.deliveries.nothing")}
          actions={
            <Button size="xs" variant="default" onClick={() => change({ states: [], receiver: "", search: "" })}>
              {t("notify.deliveries.clear")}
            </Button>
          }
        />
      )}
      {deliveries.length > 0 && (
        <DeliveriesList deliveries={deliveries} stale={list.isPlaceholderData} narrow={narrow} onOpen={show} />
      )}
      <LoadMore label={t("notify.deliveries.more")} query={list} />
      {open !== null && <DeliveryDrawer id={open} onClose={() => show(null)} />}
    </NotifyPage>
  );
}
