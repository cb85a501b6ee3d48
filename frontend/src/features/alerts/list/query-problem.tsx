import { Button } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { PageMessage } from "@/ui/page-message";
import { problemText } from "../model/problem-text";

interface Props {
  readonly title: string;
  readonly error: Error;
  /** What is shown is the last answer. */
  readonly stale: boolean;
  readonly retry: () => unknown;
}

/** Why something could not be read, and that it may be old. */
export function QueryProblem({ title, error, stale, retry }: Props) {
  const { t } = useTranslation();
  return (
    <PageMessage
      icon="warning"
      title={title}
      role="alert"
      actions={
        <Button size="sm" onClick={() => void retry()}>
          {t("action.retry")}
        </Button>
      }
    >
      <p>{problemText(error, t)}</p>
      {stale && <p>{t("alerts.stale")}</p>}
    </PageMessage>
  );
}
