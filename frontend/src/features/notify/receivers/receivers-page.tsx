import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { receiversQuery, routingQuery } from "@/api/notify/queries";
import { useMay } from "@/lib/access-scopes";
import { QueryFault } from "@/ui/fault/query-fault";
import { Cards } from "@/ui/list/card";
import { Loading } from "@/ui/loading";
import { PageMessage } from "@/ui/page-message";
import { Hint } from "@/ui/text/text";
import { NotifyPage } from "../notify-page";
import { useAddressTarget } from "../use-address-target";
import { ReceiverCard } from "./receiver-card";

const REFRESH_MS = 2000;

/** Who is told, by which ways, and how these do. */
export function ReceiversPage() {
  const { t } = useTranslation();
  const may = useMay("alerts:write");
  const receivers = useQuery({ ...receiversQuery, refetchInterval: REFRESH_MS });
  const routing = useQuery(routingQuery);
  useAddressTarget(receivers.data !== undefined);
  const list = receivers.data?.receivers ?? [];
  return (
    <NotifyPage title={t("notify.receivers.title")}>
      <QueryFault title={t("notify.receivers.failed")} query={receivers} />
      {receivers.isPending && <Loading height={240} label={t("notify.loading")} />}
      {receivers.data && !may && <Hint>{t("notify.readOnly")}</Hint>}
      {receivers.data && list.every((one) => one.integrations.length === 0) && (
        <PageMessage icon="bellOff" title={t("notify.receivers.none")}>
          <p>{t("notify.receivers.noneHint")}</p>
        </PageMessage>
      )}
      <Cards aria-label={t("notify.receivers.title")}>
        {list.map((receiver) => (
          <ReceiverCard key={receiver.name} receiver={receiver} root={routing.data?.root ?? null} may={may} />
        ))}
      </Cards>
    </NotifyPage>
  );
}
