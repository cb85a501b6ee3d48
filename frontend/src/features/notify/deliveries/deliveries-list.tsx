import { useTranslation } from "react-i18next";
import type { Delivery } from "@/api/notify/types";
import { serverNow } from "@/api/server-clock";
import { useNow } from "@/lib/time/use-now";
import { useTimes } from "@/lib/time/use-times";
import { useReasonText } from "@/ui/fault/reason";
import { Card, CardHead, Cards } from "@/ui/list/card";
import { Table } from "@/ui/list/table";
import classes from "./deliveries.module.css";
import { DeliveryMark } from "./delivery-mark";

interface Props {
  readonly deliveries: readonly Delivery[];
  /** What is shown answers another question than the one that was asked last. */
  readonly stale: boolean;
  readonly narrow: boolean;
  readonly onOpen: (id: string) => void;
}

/** Deliveries as a table, or as cards where it is narrow. */
export function DeliveriesList({ deliveries, stale, narrow, onOpen }: Props) {
  return (
    <div aria-busy={stale}>
      {narrow ? <Narrow deliveries={deliveries} onOpen={onOpen} /> : <Rows deliveries={deliveries} onOpen={onOpen} />}
    </div>
  );
}

type RowsProps = Pick<Props, "deliveries" | "onOpen">;

function Rows({ deliveries, onOpen }: RowsProps) {
  const { t } = useTranslation();
  const times = useTimes();
  return (
    <Table label={t("notify.deliveries.title")}>
      <thead>
        <tr>
          <th scope="col">{t("notify.deliveries.state")}</th>
          <th scope="col">{t("notify.deliveries.subject")}</th>
          <th scope="col">{t("notify.deliveries.receiver")}</th>
          <th scope="col">{t("notify.deliveries.created")}</th>
          <th scope="col" data-number>
            {t("notify.deliveries.attempts")}
          </th>
          <th scope="col">{t("notify.deliveries.last")}</th>
        </tr>
      </thead>
      <tbody>
        {deliveries.map((delivery) => (
          <tr key={delivery.id} data-delivery={delivery.id}>
            <td>
              <DeliveryMark state={delivery.state} />
            </td>
            <td className={classes.subject}>
              <button type="button" className={classes.open} onClick={() => onOpen(delivery.id)}>
                {delivery.subject}
              </button>
              <Reason delivery={delivery} />
            </td>
            <td>
              {delivery.receiver}
              <span className={classes.sub}>{delivery.integration}</span>
            </td>
            <td>
              {times.instant(delivery.created_ms)}
              <Counts delivery={delivery} />
            </td>
            <td data-number>{delivery.attempts}</td>
            <td>
              <Last delivery={delivery} />
            </td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

function Narrow({ deliveries, onOpen }: RowsProps) {
  const { t } = useTranslation();
  const times = useTimes();
  return (
    <Cards aria-label={t("notify.deliveries.title")}>
      {deliveries.map((delivery) => (
        <Card key={delivery.id} data-delivery={delivery.id}>
          <CardHead>
            <DeliveryMark state={delivery.state} />
            <span className={classes.sub}>{times.instant(delivery.created_ms)}</span>
          </CardHead>
          <button type="button" className={classes.open} onClick={() => onOpen(delivery.id)}>
            {delivery.subject}
          </button>
          <Reason delivery={delivery} />
          <p className={classes.sub}>
            {delivery.receiver} · {delivery.integration} ·{" "}
            {t("notify.deliveries.tries", { attempts: delivery.attempts })}
          </p>
          <Last delivery={delivery} />
        </Card>
      ))}
    </Cards>
  );
}

function Reason({ delivery }: { delivery: Delivery }) {
  const say = useReasonText();
  if (delivery.reason === "") return null;
  return (
    <span className={classes.reason} data-state={delivery.state}>
      {say(delivery.reason)}
    </span>
  );
}

function Counts({ delivery }: { delivery: Delivery }) {
  const { t } = useTranslation();
  if (delivery.kind !== "alert") return <span className={classes.sub}>{t(`notify.about_${delivery.kind}`)}</span>;
  const { firing, resolved } = delivery;
  const parts = [
    firing > 0 ? t("notify.firing", { firing }) : "",
    resolved > 0 ? t("notify.resolved", { resolved }) : "",
  ];
  return <span className={classes.sub}>{parts.filter((part) => part !== "").join(", ")}</span>;
}

/** Status and duration of the last attempt, and when the next one is. */
function Last({ delivery }: { delivery: Delivery }) {
  const { t } = useTranslation();
  const times = useTimes();
  const now = useNow(serverNow, 1000);
  const { last_status_code: status, last_seconds: seconds, next_attempt_ms: next } = delivery;
  const last = [
    status === null ? "" : t("notify.status", { status }),
    seconds === null ? "" : times.span(seconds * 1000),
  ];
  return (
    <>
      <span className={classes.last}>{last.filter((part) => part !== "").join(" · ")}</span>
      {delivery.state === "waiting" && next !== null && (
        <span className={classes.sub}>
          {next <= now ? t("notify.deliveries.due") : t("notify.deliveries.next", { span: times.span(next - now) })}
        </span>
      )}
    </>
  );
}
