import { Button } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { tryReceiver } from "@/api/notify/queries";
import type { Receiver, Route, TrialResult } from "@/api/notify/types";
import { formatDuration } from "@/lib/time/time";
import { useLocale } from "@/lib/use-locale";
import { FaultText, Problem } from "@/ui/fault/problem";
import { Icon } from "@/ui/icon";
import { StateMark } from "@/ui/state-mark";
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
  const client = useQueryClient();
  const trial = useMutation({
    mutationFn: () => tryReceiver(receiver.name, null),
    onSettled: () => client.invalidateQueries({ queryKey: ["notify"] }),
  });
  return (
    <li id={receiver.name} className={classes.card} data-receiver={receiver.name} tabIndex={-1}>
      <div className={classes.cardHead}>
        <h2 className={classes.cardTitle}>{receiver.name}</h2>
        <div className={classes.cardTools}>
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
        </div>
      </div>
      {receiver.integrations.length === 0 && <p className={classes.dim}>{t("notify.pageOnlyHint")}</p>}
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
    </li>
  );
}

/** What leads here, as conditions from the root down. */
function Routes({ ids, root }: { ids: readonly string[]; root: Route }) {
  const { t } = useTranslation();
  if (ids.length === 0) return <p className={classes.dim}>{t("notify.receivers.noRoute")}</p>;
  return (
    <div className={classes.lines}>
      <p className={classes.dim}>
        <Link to="/alerts/routes">{t("notify.receivers.routes")}</Link>
      </p>
      {ids.map((id) => {
        const conditions = conditionsTo(root, id);
        if (conditions.length > 0) return <MatcherChips key={id} matchers={conditions} />;
        return (
          <p key={id} className={classes.dim}>
            {t(id === root.id ? "notify.receivers.rest" : "notify.routes.rest")}
          </p>
        );
      })}
    </div>
  );
}

/** How each integration took the test message. */
function Trial({ results }: { results: readonly TrialResult[] }) {
  const { t } = useTranslation();
  const locale = useLocale();
  return (
    <ul className={own.trials} aria-label={t("notify.trial.title")}>
      {results.map((result) => (
        <li key={result.integration} className={own.trial} data-ok={result.ok}>
          <p className={classes.strong}>
            <StateMark
              tone={result.ok ? "ok" : "bad"}
              label={t(result.ok ? "notify.trial.ok" : "notify.trial.failed")}
            />
            {result.integration}
            <span className={classes.dim}>
              {result.status_code !== null && `${t("notify.status", { status: result.status_code })} · `}
              {formatDuration(result.seconds * 1000, locale)}
            </span>
          </p>
          {result.error !== "" && <Problem calm>{result.error}</Problem>}
          {result.response !== "" && (
            <details className={classes.details}>
              <summary>{t("notify.response")}</summary>
              <pre className={classes.pre}>{result.response}</pre>
            </details>
          )}
        </li>
      ))}
    </ul>
  );
}
