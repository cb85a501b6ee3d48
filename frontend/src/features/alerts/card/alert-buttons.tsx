import { Button } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { Alert } from "@/api/alerts/types";
import { useMay } from "@/lib/access-scopes";
import { Icon } from "@/ui/icon";
import type { AlertAction } from "../actions/use-alert-action";
import classes from "./alert-card.module.css";

interface Props {
  readonly alert: Alert;
  readonly onAct: (action: AlertAction, alert: Alert) => void;
}

/** What somebody can do about an alert. Who may do nothing sees no buttons. */
export function AlertButtons({ alert, onAct }: Props) {
  const { t } = useTranslation();
  const may = useMay("alerts:write");
  if (!may || alert.state === "resolved") return null;
  const named = (text: string) => `${text}: ${alert.name}`;
  return (
    <div className={classes.buttons}>
      {alert.acknowledged === null ? (
        <Button
          variant="default"
          className={classes.button ?? ""}
          leftSection={<Icon name="check" size={14} />}
          aria-label={named(t("alerts.acknowledge"))}
          onClick={() => onAct("acknowledge", alert)}
        >
          {t("alerts.acknowledge")}
        </Button>
      ) : (
        <Button
          variant="default"
          className={classes.button ?? ""}
          leftSection={<Icon name="undo" size={14} />}
          aria-label={named(t("alerts.unacknowledge"))}
          onClick={() => onAct("unacknowledge", alert)}
        >
          {t("alerts.unacknowledge")}
        </Button>
      )}
      <Button
        variant="default"
        className={classes.button ?? ""}
        leftSection={<Icon name="bellOff" size={14} />}
        aria-label={named(t("alerts.silence.open"))}
        onClick={() => onAct("silence", alert)}
      >
        {t("alerts.silence.open")}
      </Button>
      {alert.no_data && (
        <Button
          variant="default"
          className={classes.button ?? ""}
          leftSection={<Icon name="close" size={14} />}
          aria-label={named(t("alerts.dismiss.open"))}
          onClick={() => onAct("dismiss", alert)}
        >
          {t("alerts.dismiss.open")}
        </Button>
      )}
    </div>
  );
}
