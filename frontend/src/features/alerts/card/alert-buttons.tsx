import { Button } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { Alert } from "@/api/alerts/types";
import { useMay } from "@/lib/access-scopes";
import { Icon } from "@/ui/icon";
import type { AlertActions } from "../actions/use-alert-action";
import classes from "./alert-card.module.css";

interface Props {
  readonly alert: Alert;
  /** Others of its incident, which are acknowledged with it. */
  readonly others: readonly Alert[];
  readonly onAct: AlertActions["act"];
}

/** What somebody can do about an alert, or its incident. Who may do nothing sees no buttons. */
export function AlertButtons({ alert, others, onAct }: Props) {
  const { t } = useTranslation();
  const may = useMay("alerts:write");
  if (!may || alert.state === "resolved") return null;
  const seen = [alert, ...others].every((one) => one.acknowledged !== null);
  const named = (text: string) => `${text}: ${alert.name}`;
  return (
    <div className={classes.buttons}>
      {!seen ? (
        <Button
          variant="default"
          className={classes.button ?? ""}
          leftSection={<Icon name="check" size={14} />}
          aria-label={named(t("alerts.acknowledge"))}
          onClick={() => onAct("acknowledge", alert, others)}
        >
          {t("alerts.acknowledge")}
        </Button>
      ) : (
        <Button
          variant="default"
          className={classes.button ?? ""}
          leftSection={<Icon name="undo" size={14} />}
          aria-label={named(t("alerts.unacknowledge"))}
          onClick={() => onAct("unacknowledge", alert, others)}
        >
          {t("alerts.unacknowledge")}
        </Button>
      )}
      <Button
        variant="default"
        className={classes.button ?? ""}
        leftSection={<Icon name="bellOff" size={14} />}
        aria-label={named(t("alerts.silence.open"))}
        onClick={() => onAct("silence", alert, others)}
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
