import { Button, Drawer } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { deliveryQuery, retryDelivery, stopDelivery } from "@/api/notify/queries";
import type { Attempt, Delivery, DeliveryDetail } from "@/api/notify/types";
import { useMay } from "@/lib/access-scopes";
import { useTimes } from "@/lib/time/use-times";
import { CommandLine } from "@/ui/command-line";
import { FaultText, Problem } from "@/ui/fault/problem";
import { QueryFault } from "@/ui/fault/query-fault";
import { useReasonText } from "@/ui/fault/reason";
import { Icon } from "@/ui/icon";
import { CardTools } from "@/ui/list/card";
import { Loading } from "@/ui/loading";
import { StateMark, type Tone } from "@/ui/state-mark";
import { Disclosure } from "@/ui/text/disclosure";
import { Fact, Facts } from "@/ui/text/facts";
import { Tag, Tags } from "@/ui/text/tag";
import { Dim, Excerpt, Hint, NameLine } from "@/ui/text/text";
import { useChange } from "@/ui/use-change";
import classes from "../notify.module.css";
import { DeliveryMark } from "./delivery-mark";

/** One delivery: where it stands, each attempt, and what was sent. */
export function DeliveryDrawer({ id, onClose }: { id: string; onClose: () => void }) {
  const { t } = useTranslation();
  const detail = useQuery({ ...deliveryQuery(id), refetchInterval: 2000 });
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size="34rem"
      title={t("notify.delivery.title")}
      closeButtonProps={{ "aria-label": t("action.close") }}
    >
      <QueryFault title={t("notify.delivery.failed")} query={detail} />
      {detail.isPending && <Loading height={240} label={t("notify.loading")} />}
      {detail.data && <Detail detail={detail.data} />}
    </Drawer>
  );
}

function Detail({ detail }: { detail: DeliveryDetail }) {
  const { t } = useTranslation();
  const say = useReasonText();
  const times = useTimes();
  const { delivery } = detail;
  return (
    <div className={classes.form}>
      <NameLine>{delivery.subject}</NameLine>
      <DeliveryMark state={delivery.state} />
      {delivery.reason !== "" && <Problem calm>{say(delivery.reason)}</Problem>}
      <Facts look="beside">
        <Fact name={t("notify.deliveries.receiver")}>
          <Link to={`/alerts/receivers#${encodeURIComponent(delivery.receiver)}`}>{delivery.receiver}</Link>,{" "}
          {delivery.integration}
        </Fact>
        <Fact name={t("notify.deliveries.created")}>{times.instant(delivery.created_ms)}</Fact>
        {delivery.delivered_ms !== null && (
          <Fact name={t("notify.delivery.delivered")}>
            {times.instant(delivery.delivered_ms)} (
            {t("notify.delivery.after", { span: times.span(delivery.delivered_ms - delivery.created_ms) })})
          </Fact>
        )}
        {delivery.next_attempt_ms !== null && delivery.state === "waiting" && (
          <Fact name={t("notify.delivery.next")}>{times.instant(delivery.next_attempt_ms)}</Fact>
        )}
        <Fact name="webhook-id">
          <code className={classes.target}>{delivery.id}</code>
        </Fact>
      </Facts>
      <Again delivery={delivery} />
      {detail.alert_keys.length > 0 && (
        <section aria-labelledby="delivery-alerts">
          <h3 id="delivery-alerts" className={classes.sub}>
            {t("notify.delivery.alerts", { alerts: detail.alert_keys.length })}
          </h3>
          <AlertLinks detail={detail} />
        </section>
      )}
      <section aria-labelledby="delivery-attempts">
        <h3 id="delivery-attempts" className={classes.sub}>
          {t("notify.delivery.attempts", { attempts: detail.attempts.length })}
        </h3>
        {detail.attempts.length === 0 && <Hint>{t("notify.delivery.noAttempt")}</Hint>}
        <ol className={classes.items}>
          {[...detail.attempts].reverse().map((attempt) => (
            <AttemptItem key={attempt.number} attempt={attempt} />
          ))}
        </ol>
      </section>
      <Disclosure summary={t("notify.delivery.document")}>
        <CommandLine text={JSON.stringify(detail.document, null, 2)} />
      </Disclosure>
    </div>
  );
}

const SHOWN_ALERTS = 20;

/** The alerts that it tells of, by name where the document holds one for each. */
function AlertLinks({ detail }: { detail: DeliveryDetail }) {
  const { t } = useTranslation();
  const given = detail.document.alerts;
  const told = Array.isArray(given) ? (given as { labels?: Record<string, string> }[]) : [];
  const name = (place: number, key: string) =>
    told.length === detail.alert_keys.length ? (told[place]?.labels?.alertname ?? key) : key;
  return (
    <Tags>
      {detail.alert_keys.slice(0, SHOWN_ALERTS).map((key, place) => (
        <li key={key}>
          <Tag code>
            <Link to={`/alerts/${encodeURIComponent(key)}`}>{name(place, key)}</Link>
          </Tag>
        </li>
      ))}
      {detail.alert_keys.length > SHOWN_ALERTS && (
        <li>
          <Dim>{t("notify.delivery.others", { others: detail.alert_keys.length - SHOWN_ALERTS })}</Dim>
        </li>
      )}
    </Tags>
  );
}

/** Sends what waits, was given up or withdrawn once more, or stops trying. */
function Again({ delivery }: { delivery: Delivery }) {
  const { t } = useTranslation();
  const may = useMay("alerts:write");
  const retry = useChange(() => retryDelivery(delivery.id), { touches: ["notify"], said: t("notify.delivery.again") });
  const stop = useChange(() => stopDelivery(delivery.id), { touches: ["notify"], said: t("notify.delivery.stopped") });
  if (!may || delivery.state === "delivered" || delivery.state === "sending") return null;
  return (
    <CardTools>
      <Button
        size="xs"
        leftSection={<Icon name="send" size={14} />}
        loading={retry.isPending}
        onClick={() => retry.mutate()}
      >
        {t("notify.delivery.send")}
      </Button>
      {delivery.state === "waiting" && (
        <Button size="xs" variant="default" loading={stop.isPending} onClick={() => stop.mutate()}>
          {t("notify.delivery.stop")}
        </Button>
      )}
      <FaultText error={retry.error ?? stop.error} />
    </CardTools>
  );
}

const OUTCOMES: Readonly<Record<string, Tone>> = { delivered: "ok", passing: "warn", permanent: "bad" };

function AttemptItem({ attempt }: { attempt: Attempt }) {
  const { t } = useTranslation();
  const say = useReasonText();
  const times = useTimes();
  const known = attempt.outcome === "delivered" || attempt.outcome === "passing" || attempt.outcome === "permanent";
  const facts = [
    times.instant(attempt.at_ms),
    times.span(attempt.seconds * 1000),
    attempt.status_code === null ? "" : t("notify.status", { status: attempt.status_code }),
    attempt.address,
  ];
  return (
    <li>
      <NameLine>
        {t("notify.delivery.attempt", { number: attempt.number })}
        <StateMark
          tone={OUTCOMES[attempt.outcome] ?? "unknown"}
          label={known ? t(`notify.outcome_${attempt.outcome as "delivered"}`) : attempt.outcome}
        />
      </NameLine>
      <Hint>{facts.filter((part) => part !== "").join(" · ")}</Hint>
      {attempt.error !== "" && <Problem calm>{say(attempt.error)}</Problem>}
      {attempt.response !== "" && (
        <Disclosure summary={t("notify.response")}>
          <Excerpt>{attempt.response}</Excerpt>
        </Disclosure>
      )}
    </li>
  );
}
