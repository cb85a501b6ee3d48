import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { ApiError } from "@/api/client";
import { statusQuery } from "@/api/queries";
import type { components } from "@/api/schema.gen";
import { formatClock } from "@/lib/time/time";
import { useView } from "@/lib/view/context";
import { useReasonText } from "@/ui/fault/reason";
import { Icon } from "@/ui/icon";
import { IconButton } from "@/ui/icon-button";
import classes from "./status-banners.module.css";

type Status = components["schemas"]["StatusOut"];

/** Says on every page, for as long as it lasts, that nothing is evaluated, and that somebody is not told. */
export function StatusBanners() {
  const status = useQuery(statusQuery);
  const standstill = status.data?.not_evaluating ?? null;
  const locked = status.error instanceof ApiError && status.error.code === "access-unavailable";
  return (
    <>
      {(standstill !== null || locked) && <NotEvaluating standstill={standstill} />}
      {status.data !== undefined && status.data.undelivered.length > 0 && <NotDelivered status={status.data} />}
    </>
  );
}

function NotEvaluating({ standstill }: { standstill: Status["not_evaluating"] }) {
  const { t } = useTranslation();
  const { zone } = useView();
  return (
    <Banner>
      <strong>{t("evaluation.stopped")}</strong>{" "}
      {standstill === null
        ? t("evaluation.locked")
        : t(`evaluation.cause_${standstill.cause}`, { since: formatClock(standstill.since_ms, zone, "second") })}{" "}
      {t("evaluation.meanwhile")}
    </Banner>
  );
}

const NAMED = 3;

function NotDelivered({ status }: { status: Status }) {
  const { t } = useTranslation();
  const say = useReasonText();
  const { zone } = useView();
  const { undelivered } = status;
  const [closed, setClosed] = useState("");
  // Another one that fails, or one that fails again, opens it anew.
  const matter = undelivered.map((one) => `${one.receiver} ${one.integration} ${one.since_ms}`).join();
  if (closed === matter) return null;
  const since = formatClock(Math.min(...undelivered.map((one) => one.since_ms)), zone, "second");
  const names = undelivered.slice(0, NAMED).map((one) => `${one.receiver} (${say(one.reason)})`);
  return (
    <Banner onClose={() => setClosed(matter)}>
      <strong>
        {t("undelivered.failing", { failing: undelivered.length, all: status.integrations })}{" "}
        {t("undelivered.waiting", { waiting: undelivered.reduce((sum, one) => sum + one.waiting, 0), since })}
      </strong>{" "}
      {names.join(", ")}
      {undelivered.length > NAMED && ` ${t("undelivered.others", { others: undelivered.length - NAMED })}`}.{" "}
      <Link to="/alerts/deliveries?state=waiting">{t("undelivered.show")}</Link>
    </Banner>
  );
}

function Banner({ children, onClose }: { children: ReactNode; onClose?: () => void }) {
  const { t } = useTranslation();
  return (
    <div className={classes.banner} role="alert">
      <Icon name="warning" size={16} />
      <p>{children}</p>
      {onClose !== undefined && <IconButton icon="close" label={t("action.close")} onClick={onClose} />}
    </div>
  );
}
