import { Button } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { retryIntegration, stopIntegration } from "@/api/notify/queries";
import type { Integration } from "@/api/notify/types";
import { serverNow } from "@/api/server-clock";
import { useNow } from "@/lib/time/use-now";
import { useTimes } from "@/lib/time/use-times";
import { useLocale } from "@/lib/use-locale";
import { FaultText, Problem } from "@/ui/fault/problem";
import { useReasonText } from "@/ui/fault/reason";
import { CardTools } from "@/ui/list/card";
import { StateMark, type Tone } from "@/ui/state-mark";
import { Hint, NameLine } from "@/ui/text/text";
import { useChange } from "@/ui/use-change";
import classes from "../notify.module.css";
import own from "./receivers.module.css";

const TONES: Readonly<Record<Integration["state"], Tone>> = {
  unused: "unknown",
  ok: "ok",
  failing: "bad",
  refusing: "bad",
};

interface Props {
  readonly receiver: string;
  readonly integration: Integration;
  readonly may: boolean;
}

/** One way to tell a receiver, and how it does. */
export function IntegrationRow({ receiver, integration, may }: Props) {
  const { t } = useTranslation();
  const say = useReasonText();
  const locale = useLocale();
  const times = useTimes();
  const now = useNow(serverNow, 1000);
  const retry = useChange(() => retryIntegration(receiver, integration.id), {
    touches: ["notify"],
    said: t("notify.receivers.retried"),
  });
  const stop = useChange(() => stopIntegration(receiver, integration.id), {
    touches: ["notify"],
    said: t("notify.receivers.stopped"),
  });
  const ago = (ms: number) => t("notify.ago", { span: times.span(Math.max(0, now - ms)) });
  const log = (state: "waiting" | "dead") => `/alerts/deliveries?${new URLSearchParams({ receiver, state })}`;
  return (
    <li className={own.integration} data-integration={integration.id} data-state={integration.state}>
      <NameLine>
        <StateMark tone={TONES[integration.state]} label={t(`notify.integration_${integration.state}`)} />
        <span>{locale === "ja" ? integration.title_ja : integration.title}</span>
        <code className={classes.target}>{integration.target}</code>
      </NameLine>
      {integration.state_reason !== "" && <Problem calm>{say(integration.state_reason)}</Problem>}
      <Hint>
        {[
          integration.last_success_ms === null
            ? t("notify.receivers.never")
            : t("notify.receivers.success", { ago: ago(integration.last_success_ms) }),
          integration.last_failure_ms === null
            ? ""
            : t("notify.receivers.failure", { ago: ago(integration.last_failure_ms) }),
          integration.failing_since_ms === null
            ? ""
            : t("notify.receivers.since", { time: times.instant(integration.failing_since_ms) }),
          integration.next_attempt_ms === null || integration.waiting === 0
            ? ""
            : integration.next_attempt_ms <= now
              ? t("notify.deliveries.due")
              : t("notify.deliveries.next", { span: times.span(integration.next_attempt_ms - now) }),
          integration.signed ? t("notify.receivers.signed") : "",
          integration.send_resolved ? "" : t("notify.receivers.noResolved"),
        ]
          .filter((part) => part !== "")
          .join(" · ")}
      </Hint>
      {(integration.waiting > 0 || integration.dead > 0) && (
        <Hint>
          {integration.waiting > 0 && (
            <Link to={log("waiting")}>{t("notify.receivers.waiting", { waiting: integration.waiting })}</Link>
          )}
          {integration.waiting > 0 && integration.dead > 0 && " · "}
          {integration.dead > 0 && (
            <Link to={log("dead")}>{t("notify.receivers.dead", { dead: integration.dead })}</Link>
          )}
        </Hint>
      )}
      {integration.waiting > 0 && may && (
        <CardTools>
          <Button
            size="compact-sm"
            variant="default"
            loading={retry.isPending}
            onClick={() => retry.mutate()}
            aria-label={`${t("notify.receivers.retry")}: ${receiver}, ${integration.id}`}
          >
            {t("notify.receivers.retry")}
          </Button>
          <Button
            size="compact-sm"
            variant="subtle"
            loading={stop.isPending}
            onClick={() => stop.mutate()}
            aria-label={`${t("notify.receivers.stop")}: ${receiver}, ${integration.id}`}
          >
            {t("notify.receivers.stop")}
          </Button>
        </CardTools>
      )}
      <FaultText error={retry.error ?? stop.error} />
    </li>
  );
}
