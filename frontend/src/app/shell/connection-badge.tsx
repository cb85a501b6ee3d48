import { useTranslation } from "react-i18next";
import { serverNow } from "@/api/server-clock";
import { formatDuration, wholeMinutes } from "@/lib/time/time";
import { useNow } from "@/lib/time/use-now";
import { useLocale } from "@/lib/use-locale";
import type { ConnectionState } from "@/panels/feed/connection";
import { useConnectionState } from "@/panels/feed/connection-context";
import { Icon, type IconName } from "@/ui/icon";
import classes from "./connection-badge.module.css";

export const STALE_AFTER_MS = 10_000;
const MINUTE_MS = 60_000;

type Tone = "ok" | "warn" | "bad" | "idle";

export function toneOf(state: ConnectionState, now: number): Tone {
  if (state.line === "away") return "bad";
  if (state.line === "connecting" || state.newestMs === null) return "idle";
  return now - state.newestMs > STALE_AFTER_MS || state.line === "polling" ? "warn" : "ok";
}

const ICONS: Readonly<Record<Tone, IconName>> = { ok: "check", warn: "warning", bad: "offline", idle: "clock" };

/** How old the newest sample is, and whether the server answers. */
export function ConnectionBadge() {
  const state = useConnectionState();
  const now = useNow(serverNow);
  const locale = useLocale();
  const { t } = useTranslation();
  const tone = toneOf(state, now);
  const age = state.newestMs === null ? null : Math.max(0, now - state.newestMs);
  /** In full, and as short as a phone's header has room for. */
  const words = (): readonly [string, string] => {
    if (state.line === "away") return [t("line.away"), t("line.awayShort")];
    if (state.line === "connecting") return [t("line.connecting"), t("line.connecting")];
    if (age === null) return [t("line.none"), t("line.noneShort")];
    const stale = age > STALE_AFTER_MS;
    const text = formatDuration(Math.max(1000, age), locale);
    const short = formatDuration(age < MINUTE_MS ? Math.max(1000, age) : wholeMinutes(age), locale);
    return stale
      ? [t("line.stale", { age: text }), t("line.staleShort", { age: short })]
      : [t("line.last", { age: text }), short];
  };
  const [full, short] = words();
  const hint = state.line === "away" ? t("line.awayHint") : state.line === "polling" ? t("line.polling") : undefined;
  return (
    <div className={classes.badge} data-tone={tone} title={hint === undefined ? full : `${full}. ${hint}`}>
      <Icon name={ICONS[tone]} size={13} />
      <span className={classes.text}>{full}</span>
      <span className={classes.short} aria-hidden="true">
        {short}
      </span>
      {/* Read out when the line changes, not every second. */}
      <span className="lw-visually-hidden" role="status">
        {state.line === "away" ? t("line.away") : state.line === "polling" ? t("line.polling") : ""}
      </span>
    </div>
  );
}
