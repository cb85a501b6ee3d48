import { Button } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { serverNow } from "@/api/server-clock";
import { formatDuration } from "@/lib/time/time";
import { useNow } from "@/lib/time/use-now";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { useConnectionState } from "@/panels/feed/connection-context";
import { useFeed, useFeedState } from "@/panels/feed/feed-context";
import { faultText } from "@/ui/fault/problem";
import { Docked } from "@/ui/page/dock";
import { Notice } from "@/ui/page/notice";

/** Silence as long as this is not jitter any more. */
const SILENT_MS = 15_000;

/** What is wrong with the page as a whole, and what to do. */
export function LiveNotices() {
  const { t } = useTranslation();
  const locale = useLocale();
  const view = useView();
  const feed = useFeed();
  const { error } = useFeedState();
  const { line, newestMs, told } = useConnectionState();
  const now = useNow(serverNow);
  if (line === "away") {
    return (
      <Docked>
        <Notice tone="bad" role="alert" icon="offline" framed>
          <strong>{t("error.offline")}.</strong> {t("error.offlineHint")} {t("live.failedHint")}
        </Notice>
      </Docked>
    );
  }
  if (error !== null && error.code !== "offline") {
    return (
      <Docked>
        <Notice
          tone="bad"
          role="alert"
          icon="warning"
          framed
          action={
            <Button size="compact-xs" variant="default" onClick={() => feed.retry()}>
              {t("action.retry")}
            </Button>
          }
        >
          <strong>{t("live.failed")}.</strong> {faultText(error, t)}{" "}
          {error.status === 413 || error.status === 422 ? t("live.tooMuch") : ""}
        </Notice>
      </Docked>
    );
  }
  if (told && newestMs === null) {
    return (
      <Docked>
        <Notice role="status" icon="pulse" framed>
          <strong>{t("live.waiting")}.</strong> {t("live.waitingHint")}
        </Notice>
      </Docked>
    );
  }
  if (view.live && newestMs !== null && now - newestMs > SILENT_MS) {
    return (
      <Docked>
        <Notice tone="warn" role="status" icon="warning" framed>
          <strong>{t("live.stale", { age: formatDuration(now - newestMs, locale) })}.</strong> {t("live.staleHint")}{" "}
          <Link to="/targets">{t("nav.targets")}</Link>
        </Notice>
      </Docked>
    );
  }
  return null;
}
