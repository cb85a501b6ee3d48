import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { PageMessage } from "@/ui/page-message";
import { FaultWords } from "./problem";

interface Props {
  readonly title: string;
  readonly query: {
    readonly error: Error | null;
    readonly data: unknown;
    readonly refetch: () => Promise<unknown>;
  };
  /** Beside another try. */
  readonly actions?: ReactNode;
}

/** A question that the server did not answer well: why, another try, and whether what stands below is old. */
export function QueryFault({ title, query, actions }: Props) {
  const { t } = useTranslation();
  if (query.error === null) return null;
  return (
    <PageMessage
      icon="warning"
      title={title}
      role="alert"
      actions={
        <>
          <Button size="xs" onClick={() => void query.refetch()}>
            {t("action.retry")}
          </Button>
          {actions}
        </>
      }
    >
      <p>{query.error.message === "offline" ? t("error.offlineHint") : <FaultWords error={query.error} />}</p>
      {query.data !== undefined && <p>{t("error.stale")}</p>}
    </PageMessage>
  );
}
