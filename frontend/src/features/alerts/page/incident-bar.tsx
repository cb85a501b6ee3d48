import { Button } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import type { Incident } from "@/api/alerts/types";
import { useMay } from "@/lib/access-scopes";
import { Icon } from "@/ui/icon";
import type { AlertActions } from "../actions/use-alert-action";
import { isSeen, isSilenced, waitsForSomebody } from "../model/incident";
import classes from "./incident.module.css";

/** What somebody does about an incident, under the thumb. */
export function IncidentBar({ incident, act }: { incident: Incident; act: AlertActions["act"] }) {
  const { t } = useTranslation();
  const may = useMay("alerts:write");
  const { head, others, total, ended_ms } = incident;
  const acts = may && ended_ms === null;
  const seen = isSeen(incident);
  if (!acts && head.run === null) return null;
  return (
    <div className={classes.bar}>
      {acts && (
        <>
          <Button
            variant={waitsForSomebody(incident) ? "filled" : "default"}
            className={classes.button ?? ""}
            leftSection={<Icon name={seen ? "undo" : "check"} size={14} />}
            aria-keyshortcuts="A"
            onClick={() => act(seen ? "unacknowledge" : "acknowledge", head, others, total)}
          >
            {t(seen ? "alerts.unacknowledge" : "alerts.acknowledge")}
          </Button>
          {!isSilenced(incident) && (
            <>
              <Button
                variant="default"
                className={classes.button ?? ""}
                leftSection={<Icon name="bellOff" size={14} />}
                aria-keyshortcuts="S"
                onClick={() => act("silence-now", head, others)}
              >
                {t("alerts.incident.silence")}
              </Button>
              <Button variant="default" className={classes.button ?? ""} onClick={() => act("silence", head, others)}>
                {t("alerts.incident.silenceChange")}
              </Button>
            </>
          )}
          {head.no_data && (
            <Button
              variant="default"
              className={classes.button ?? ""}
              leftSection={<Icon name="close" size={14} />}
              onClick={() => act("dismiss", head)}
            >
              {t("alerts.dismiss.open")}
            </Button>
          )}
        </>
      )}
      {head.run !== null && (
        <Button
          component={Link}
          to={`/runs/${head.run.id}`}
          variant="default"
          className={classes.button ?? ""}
          leftSection={<Icon name="play" size={14} />}
        >
          {t("alerts.incident.openRun")}
        </Button>
      )}
    </div>
  );
}
