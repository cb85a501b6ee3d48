import { Loader } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Suspense } from "react";
import { useTranslation } from "react-i18next";
import { useLocation } from "react-router";
import { sessionQuery } from "@/api/queries";
import { later } from "@/app/later";
import { charts } from "@/app/locales/charts/messages";
import { Shell } from "@/app/shell/shell";
import { ChartSettingsProvider } from "@/charts/chart-settings";
import { useLocale } from "@/lib/use-locale";
import { useView, ViewProvider } from "@/lib/view/context";
import { ConnectionProvider } from "@/panels/feed/connection-context";
import { PageMessage } from "@/ui/page-message";

// Seen once in a server's life, and once in a browser's.
const SetupPage = later(async () => (await import("@/features/access/sign-in/setup-page")).SetupPage);
const SignInPage = later(async () => (await import("@/features/access/sign-in/sign-in-page")).SignInPage);

/** Decides between setting up, signing in and the pages. */
export function Root() {
  const session = useQuery({
    ...sessionQuery,
    retry: true,
    retryDelay: (count) => Math.min(1000 * 2 ** count, 10_000),
  });
  const { t } = useTranslation();
  const { pathname } = useLocation();
  if (session.data === undefined) {
    return (
      <main>
        {session.failureCount > 0 ? (
          <PageMessage icon="offline" title={t("error.offline")} role="alert">
            <p>{t("error.offlineHint")}</p>
          </PageMessage>
        ) : (
          <Loader size="sm" m="xl" role="status" aria-label={t("line.connecting")} />
        )}
      </main>
    );
  }
  if (pathname === "/setup" || session.data.principal === null) {
    return (
      <Suspense fallback={<Loader size="sm" m="xl" role="status" aria-label={t("line.connecting")} />}>
        {pathname === "/setup" ? <SetupPage session={session.data} /> : <SignInPage session={session.data} />}
      </Suspense>
    );
  }
  return (
    <ViewProvider>
      <ConnectionProvider>
        <Settled />
      </ConnectionProvider>
    </ViewProvider>
  );
}

function Settled() {
  const { zone } = useView();
  const locale = useLocale();
  return (
    <ChartSettingsProvider locale={locale} timeZone={zone} messages={charts[locale]}>
      <Shell />
    </ChartSettingsProvider>
  );
}
