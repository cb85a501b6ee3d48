import { Button } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { useRouteError } from "react-router";
import { CommandLine } from "@/ui/command-line";
import { PageMessage } from "@/ui/page-message";

/** What stands in place of a page that failed to render. */
export function PageFault({ error, retry }: { error?: Error; retry?: () => void }) {
  const { t } = useTranslation();
  const routeError = useRouteError();
  const cause = error ?? routeError;
  return (
    <PageMessage
      icon="warning"
      title={t("error.page")}
      role="alert"
      actions={
        <>
          {retry && (
            <Button size="xs" variant="default" onClick={retry}>
              {t("action.retry")}
            </Button>
          )}
          <Button size="xs" onClick={() => globalThis.location.reload()}>
            {t("action.reload")}
          </Button>
        </>
      }
    >
      <p>{t("error.pageHint")}</p>
      <CommandLine text={String(cause)} />
    </PageMessage>
  );
}
