import { Button, FileButton } from "@mantine/core";
import { type ReactNode, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { Icon } from "@/ui/icon";
import classes from "./import.module.css";

interface Props {
  readonly onFiles: (files: readonly File[]) => void;
  readonly children: ReactNode;
}

/** The whole page takes files: while one is dragged over the window, all of it says so. */
export function ImportDrop({ onFiles, children }: Props) {
  const { t } = useTranslation();
  const [over, setOver] = useState(false);
  useEffect(() => {
    let depth = 0;
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
    const enter = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      depth += 1;
      setOver(true);
    };
    const leave = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      depth = Math.max(0, depth - 1);
      if (depth === 0) setOver(false);
    };
    const hover = (event: DragEvent) => {
      // Without this the browser would open the file in place of the page.
      if (hasFiles(event)) event.preventDefault();
    };
    const drop = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      depth = 0;
      setOver(false);
      const files = [...(event.dataTransfer?.files ?? [])];
      if (files.length > 0) onFiles(files);
    };
    const ends = new AbortController();
    const { signal } = ends;
    document.addEventListener("dragenter", enter, { signal });
    document.addEventListener("dragleave", leave, { signal });
    document.addEventListener("dragover", hover, { signal });
    document.addEventListener("drop", drop, { signal });
    return () => ends.abort();
  }, [onFiles]);
  return (
    <>
      {children}
      {over && (
        <div className={classes.over} role="status">
          <Icon name="upload" size={28} />
          <p>{t("runs.dropHere")}</p>
        </div>
      )}
    </>
  );
}

export function ImportButton({ onFiles, primary }: { onFiles: (files: readonly File[]) => void; primary: boolean }) {
  const { t } = useTranslation();
  return (
    <FileButton multiple onChange={(files) => files.length > 0 && onFiles(files)}>
      {(props) => (
        <Button
          {...props}
          size="sm"
          variant={primary ? "filled" : "default"}
          leftSection={<Icon name="upload" size={14} />}
        >
          {t("runs.import")}
        </Button>
      )}
    </FileButton>
  );
}
