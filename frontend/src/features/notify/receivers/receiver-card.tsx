import { Button } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { tryReceiver } from "@/api/notify/queries";
import type { Receiver, Route, TrialResult } from "@/api/notify/types";
import { formatDuration } from "@/lib/time/time";
import { useLocale } from "@/lib/use-locale";
import { FaultText, Problem } from "@/ui/fault/problem";
import { useReasonText } from "@/ui/fault/reason";
import { Icon } from "@/ui/icon";
import { Card, CardHead, CardTools } from "@/ui/list/card";
import { StateMark } from "@/ui/state-mark";
import { Disclosure } from "@/ui/text/disclosure";
import { Dim, Excerpt, Hint, NameLine } from "@/ui/text/text";
import { useChange } from "@/ui/use-change";
import { MatcherChips } from "../matcher-chips";
import { conditionsTo } from "../model/routes";
import classes from "../notify.module.css";
import { IntegrationRow } from "./integration-row";
import own from "./receivers.module.css";

interface Props {
  readonly receiver: Receiver;
  /** The route tree, to say what leads here; null before it is read. */
  readonly root: Route | null;
  readonly may: boolean;
}

/** One receiver with its integrations, what leads to it, and a test. */
export function ReceiverCard({ receiver, root, may }: Props) {
  const { t } = useTranslation();
  const trial = useChange(() => tryReceiver(receiver.name, null), { touches: ["notify"] });
  return (
    <Card id={receiver.name} data-receiver={receiver.name} tabIndex={-1}>
      <CardHead>
        <h2 className={classes.cardTitle}>{receiver.name}</h2>
        <CardTools>
          <Button
            component={Link}
            to={`/alerts/deliveries?receiver=${encodeURIComponent(receiver.name)}`}
            size="compact-sm"
            variant="default"
          >
            {t("notify.receivers.log")}
          </Button>
          {may && receiver.integrations.length > 0 && (
            <Button
              size="compact-sm"
              variant="default"
              leftSection={<Icon name="send" size={13} />}
              loading={trial.isPending}
              onClick={() => trial.mutate()}
              aria-label={`${t("notify.receivers.test")}: ${receiver.name}`}
            >
              {t("notify.receivers.test")}
            </Button>
          )}
        </CardTools>
      </CardHead>
      {receiver.integrations.length === 0 && <Hint>{t("notify.pageOnlyHint")}</Hint>}
      {receiver.integrations.length > 0 && (
        <ul className={own.integrations} aria-label={t("notify.receivers.integrations")}>
          {receiver.integrations.map((integration) => (
            <IntegrationRow key={integration.id} receiver={receiver.name} integration={integration} may={may} />
          ))}
        </ul>
      )}
      <div aria-live="polite">
        <FaultText error={trial.error} />
        {trial.data && <Trial results={trial.data.results} />}
      </div>
      {root !== null && <Routes ids={receiver.routes} root={root} />}
    </Card>
  );
}

/** What leads here, as conditions from the root down. */
function Routes({ ids, root }: { ids: readonly string[]; root: Route }) {
  const { t } = useTranslation();
  if (ids.length === 0) return <Hint>{t("notify.receivers.noRoute")}</Hint>;
  return (
    <>
      <Hint>
        <Link to="/alerts/routes">{t("notify.receivers.routes")}</Link>
      </Hint>
      {ids.map((id) => {
        const conditions = conditionsTo(root, id);
        if (conditions.length > 0) return <MatcherChips key={id} matchers={conditions} />;
        return <Hint key={id}>{t(id === root.id ? "notify.receivers.rest" : "notify.routes.rest")}</Hint>;
      })}
    </>
  );
}

/** How each integration took the test message. */
function Trial({ results }: { results: readonly TrialResult[] }) {
  const { t } = useTranslation();
  const say = useReasonText();
  const locale = useLocale();
  return (
    <ul className={own.trials} aria-label={t("notify.trial.title")}>
      {results.map((result) => (
        <li key={result.integration} className={own.trial} data-ok={result.ok}>
          <NameLine>
            <StateMark
              tone={result.ok ? "ok" : "bad"}
              label={t(result.ok ? "notify.trial.ok" : "notify.trial.failed")}
            />
            {result.integration}
            <Dim>
              {result.status_code !== null && `${t("notify.status", { status: result.status_code })} · `}
              {formatDuration(result.seconds * 1000, locale)}
            </Dim>
          </NameLine>
          {result.error !== "" && <Problem calm>{say(result.error)}</Problem>}
          {result.response !== "" && (
            <Disclosure summary={t("notify.response")}>
              <Excerpt>{result.response}</Excerpt>
            </Disclosure>
          )}
        </li>
      ))}
    </ul>
  );
}
