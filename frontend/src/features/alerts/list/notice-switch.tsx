import { Button } from "@mantine/core";
import { useState, useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import { Icon } from "@/ui/icon";
import { allowNotices, noticeState, stopNotices, subscribeNotices } from "../model/browser-notices";
import classes from "./alerts-page.module.css";

/** Asks to be called by this browser while the page is open, or to be left alone again. */
export function NoticeSwitch() {
  const { t } = useTranslation();
  const state = useSyncExternalStore(subscribeNotices, noticeState);
  const [why, showWhy] = useState(false);
  const possible = state === "on" || state === "off";
  const press = () => {
    if (state === "on") stopNotices();
    else if (state === "off") void allowNotices();
    else showWhy(!why);
  };
  return (
    <div className={classes.notice}>
      <Button
        variant="default"
        className={classes.tool ?? ""}
        leftSection={<Icon name={state === "on" ? "bell" : "bellOff"} size={14} />}
        {...(possible ? { "aria-pressed": state === "on" } : { "aria-expanded": why })}
        title={t("alerts.notice.hint")}
        onClick={press}
      >
        {state === "on" ? t("alerts.notice.on") : t("alerts.notice.off")}
      </Button>
      {why && !possible && (
        <p className={classes.why} role="status">
          {t(`alerts.notice.why_${state}`)}
        </p>
      )}
    </div>
  );
}
