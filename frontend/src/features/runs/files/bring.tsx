import { Button, FileButton } from "@mantine/core";
import { type DragEvent, type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { faultText } from "@/ui/fault/problem";
import { Icon } from "@/ui/icon";
import { PageMessage } from "@/ui/page-message";
import classes from "./files.module.css";

/** How files come to a run: by a button, or dropped on a part of the page. */
export interface Bringing {
  readonly may: boolean;
  readonly busy: boolean;
  readonly error: Error | null;
  readonly bring: (files: readonly File[]) => void;
  /** What the button says, and the part of the page over which files are held. */
  readonly button: string;
  readonly dropHere: string;
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
          {bringing.dropHere}
        </p>
      )}
      {bringing.error !== null && <PageMessage icon="warning" title={faultText(bringing.error, t)} role="alert" />}
    </div>
  );
}

export function BringButton({ bringing }: { bringing: Bringing }) {
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
          {bringing.button}
        </Button>
      )}
    </FileButton>
  );
}
