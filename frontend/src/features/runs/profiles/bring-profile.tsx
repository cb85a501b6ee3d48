import { Button, FileButton } from "@mantine/core";
import { type DragEvent, type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { uploadProfile } from "@/api/profiles/queries";
import { useMay } from "@/lib/access-scopes";
import { Icon } from "@/ui/icon";
import { PageMessage } from "@/ui/page-message";
import { useChange } from "@/ui/use-change";
import classes from "./profiles.module.css";

export interface Bringing {
  readonly may: boolean;
  readonly busy: boolean;
  readonly error: Error | null;
  readonly bring: (files: readonly File[]) => void;
}

/** Keeps files with the run, one after another. */
export function useBringing(run: string): Bringing {
  const { t } = useTranslation();
  const may = useMay("runs:write");
  const change = useChange(
    async (files: readonly File[]) => {
      for (const file of files) await uploadProfile(run, file).answer;
    },
    { touches: ["profiles"], said: t("profiles.brought") },
  );
  return { may, busy: change.isPending, error: change.error, bring: (files) => change.mutate(files) };
}

/** What stands in it takes files that are dropped there. */
export function DropZone({ bringing, children }: { bringing: Bringing; children: ReactNode }) {
  const { t } = useTranslation();
  const [over, setOver] = useState(false);
  const holds = (event: DragEvent) => bringing.may && event.dataTransfer.types.includes("Files");
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button beside it does the same for the keyboard
    <div
      className={classes.drop}
      data-over={over}
      onDragOver={(event) => {
        if (!holds(event)) return;
        // Without this the browser would open the file in place of the page.
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(false);
      }}
      onDrop={(event) => {
        if (!holds(event)) return;
        event.preventDefault();
        setOver(false);
        bringing.bring([...event.dataTransfer.files]);
      }}
    >
      {children}
      {over && (
        <p className={classes.over} role="status">
          {t("profiles.dropHere")}
        </p>
      )}
      {bringing.error !== null && <PageMessage icon="warning" title={bringing.error.message} role="alert" />}
    </div>
  );
}

export function BringButton({ bringing }: { bringing: Bringing }) {
  const { t } = useTranslation();
  if (!bringing.may) return null;
  return (
    <FileButton multiple onChange={(files) => files.length > 0 && bringing.bring(files)}>
      {(props) => (
        <Button
          {...props}
          size="xs"
          variant="default"
          loading={bringing.busy}
          leftSection={<Icon name="upload" size={14} />}
        >
          {t("profiles.bring")}
        </Button>
      )}
    </FileButton>
  );
}
