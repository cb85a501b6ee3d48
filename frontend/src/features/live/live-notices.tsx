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
import { CommandLine } from "@/ui/command-line";
import { Icon } from "@/ui/icon";
import { PageMessage } from "@/ui/page-message";
import classes from "./live-page.module.css";

/** Silence as long as this is not jitter any more. */
const SILENT_MS = 15_000;

/** What is wrong with the page as a whole, and what to do. */
export function LiveNotices() {
  const { t } = useTranslation();
  const locale = useLocale();
  const view = useView();
  const feed = useFeed();
  const { error } = useFeedState();
  const { line, newestMs } = useConnectionState();
  const now = useNow(serverNow);
  if (line === "away") {
    return (
      <p className={classes.notice} data-tone="bad" role="alert">
        <Icon name="offline" />
        <span>
          <strong>{t("error.offline")}.</strong> {t("error.offlineHint")} {t("live.failedHint")}
        </span>
      </p>
    );
  }
  if (error !== null && error.code !== "offline") {
    return (
      <p className={classes.notice} data-tone="bad" role="alert">
        <Icon name="warning" />
        <span>
          <strong>{t("live.failed")}.</strong> {error.message}{" "}
          {error.status === 413 || error.status === 422 ? t("live.tooMuch") : ""}
        </span>
        <Button size="compact-xs" variant="default" onClick={() => feed.retry()}>
          {t("action.retry")}
        </Button>
      </p>
    );
  }
  if (line !== "connecting" && newestMs === null) {
    return (
      <PageMessage icon="pulse" title={t("live.waiting")}>
        <p>{t("live.waitingHint")}</p>
        <CommandLine text="loadwatch agent --config loadwatch.yml" />
        <p>{t("live.waitingMore")}</p>
      </PageMessage>
    );
  }
  if (view.live && newestMs !== null && now - newestMs > SILENT_MS) {
    return (
      <p className={classes.notice} data-tone="warn" role="status">
        <Icon name="warning" />
        <span>
          <strong>{t("live.stale", { age: formatDuration(now - newestMs, locale) })}.</strong> {t("live.staleHint")}{" "}
          <Link to="/targets">{t("nav.targets")}</Link>
        </span>
      </p>
    );
  }
  return null;
}
