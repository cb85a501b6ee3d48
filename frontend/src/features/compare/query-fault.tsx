import { Button } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { PageMessage } from "@/ui/page-message";

interface Props {
  readonly title: string;
  readonly query: { readonly error: Error | null; readonly refetch: () => Promise<unknown> };
}

/** A question that the server did not answer well: why, and another try. */
export function QueryFault({ title, query }: Props) {
  const { t } = useTranslation();
  return (
    <PageMessage
      icon="warning"
      title={title}
      role="alert"
      actions={
        <Button size="xs" onClick={() => void query.refetch()}>
          {t("action.retry")}
        </Button>
      }
    >
      <p>{query.error?.message === "offline" ? t("error.offlineHint") : query.error?.message}</p>
    </PageMessage>
  );
}
