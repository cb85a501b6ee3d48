/** Whether this browser calls its user for alerts: a wish that is remembered, and the browser's own permission. */
import { readPreference, writePreference } from "@/lib/view/preferences";

/** `insecure`: browsers allow notifications over https and on this machine only. */
export type NoticeState = "on" | "off" | "denied" | "insecure" | "unsupported";

const WISH = "alertNotices";

const listeners = new Set<() => void>();
let refused = false;

export function subscribeNotices(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function noticeState(): NoticeState {
  if (refused || typeof Notification === "undefined") return globalThis.isSecureContext ? "unsupported" : "insecure";
  if (!globalThis.isSecureContext) return "insecure";
  if (Notification.permission === "denied") return "denied";
  return readPreference(WISH) === "on" && Notification.permission === "granted" ? "on" : "off";
}

/** Asks for the permission, which browsers grant only after a press. */
export async function allowNotices(): Promise<void> {
  if (typeof Notification === "undefined") return;
  const answer = Notification.permission === "granted" ? "granted" : await Notification.requestPermission();
  if (answer === "granted") writePreference(WISH, "on");
  tell();
}

export function stopNotices(): void {
  writePreference(WISH, "off");
  tell();
}

export interface NoticeText {
  /** Equal tags replace each other, also from one tab of the browser to the next. */
  readonly tag: string;
  readonly title: string;
  readonly body: string;
}

/** Shows one; null where the browser refuses, as phones do without a service worker. */
export function showNotice(text: NoticeText, onPress: () => void): Notification | null {
  try {
    const notice = new Notification(text.title, { body: text.body, tag: text.tag, icon: "/favicon-firing.svg" });
    notice.onclick = () => {
      globalThis.focus();
      onPress();
      notice.close();
    };
    return notice;
  } catch {
    refused = true;
    tell();
    return null;
  }
}

function tell(): void {
  for (const listener of listeners) listener();
}
