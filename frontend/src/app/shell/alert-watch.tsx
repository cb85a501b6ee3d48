import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import { useNavigate } from "react-router";
import type { Alert } from "@/api/alerts/types";
import { type NoticeText, noticeState, showNotice, subscribeNotices } from "@/features/alerts/model/browser-notices";
import { useFiringAlerts } from "@/features/alerts/model/firing-alerts";
import { isLoud, planNotices } from "@/features/alerts/model/notices";
import { labelText, textOf } from "@/features/alerts/model/text";
import { useLocale } from "@/lib/use-locale";
import { useConnection } from "@/panels/feed/connection-context";

/** Follows what fires while the page is open: fresh queries, the window's title and icon, the browser's notifications. */
export function AlertWatch() {
  const { alerts, loud } = useFiringAlerts();
  useAlertNews();
  useTitleCount(loud);
  useIcon(loud > 0);
  useNotices(alerts);
  return null;
}

/** What is shown of alerts is read again whenever the server says that one has changed. */
function useAlertNews(): void {
  const connection = useConnection();
  const client = useQueryClient();
  useEffect(
    () => connection.onAlerts(() => void client.invalidateQueries({ queryKey: ["alerts"] }, { cancelRefetch: false })),
    [connection, client],
  );
}

const COUNT = /^\(\d+\) /;

/** Pages write the title; the count stands before whatever they wrote. */
function useTitleCount(count: number): void {
  useEffect(() => {
    const element = document.querySelector("title");
    if (element === null) return;
    const write = () => {
      const wanted = `${count > 0 ? `(${count}) ` : ""}${document.title.replace(COUNT, "")}`;
      if (document.title !== wanted) document.title = wanted;
    };
    write();
    const observer = new MutationObserver(write);
    observer.observe(element, { childList: true, characterData: true, subtree: true });
    return () => observer.disconnect();
  }, [count]);
}

function useIcon(firing: boolean): void {
  useEffect(() => {
    document.querySelector("link[rel=icon]")?.setAttribute("href", firing ? "/favicon-firing.svg" : "/favicon.svg");
  }, [firing]);
}

const TOGETHER = "loadwatch-alerts";

function useNotices(alerts: readonly Alert[] | null): void {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const locale = useLocale();
  const told = useRef<ReadonlySet<string> | null>(null);
  const shown = useRef(new Map<string, Notification>());
  const on = useSyncExternalStore(subscribeNotices, noticeState) === "on";
  useEffect(() => {
    if (alerts === null) return;
    const plan = planNotices(told.current, alerts);
    told.current = plan.told;
    const show = (text: NoticeText, path: string) => {
      const notice = on ? showNotice(text, () => void navigate(path)) : null;
      if (notice !== null) shown.current.set(text.tag, notice);
    };
    for (const alert of plan.single) {
      const body = textOf(alert, "summary", locale) || labelText(alert.labels);
      show({ tag: alert.id, title: t("alerts.notice.one", { name: alert.name }), body }, `/alerts/${alert.id}`);
    }
    if (plan.together.length > 0) {
      const names = [...new Set(plan.together.map((alert) => alert.name))].slice(0, 5).join(", ");
      const title = t("alerts.notice.many", { total: plan.together.length });
      show({ tag: TOGETHER, title, body: names }, "/alerts");
    }
    // A message about what is over, or in somebody's hands, would only call in vain.
    const live = new Set(alerts.filter(isLoud).map((alert) => alert.id));
    for (const [tag, notice] of shown.current) {
      if (tag === TOGETHER ? live.size > 0 : live.has(tag)) continue;
      notice.close();
      shown.current.delete(tag);
    }
  }, [alerts, on, navigate, t, locale]);
}
