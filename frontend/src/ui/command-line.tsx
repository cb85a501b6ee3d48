import { CopyButton } from "@mantine/core";
import { useTranslation } from "react-i18next";
import classes from "@/ui/command-line.module.css";
import { IconButton } from "@/ui/icon-button";

/** Text to type into a terminal or a file, with a button that copies it, by the name of `copy`. */
export function CommandLine({ text, copy }: { text: string; copy?: string }) {
  const { t } = useTranslation();
  return (
    <div className={classes.box}>
      {/* A long line scrolls, so the keyboard must be able to reach it. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable text needs a tab stop */}
      <pre className={classes.text} tabIndex={0}>
        {text}
      </pre>
      <CopyButton value={text}>
        {(state) => (
          <IconButton
            icon={state.copied ? "check" : "copy"}
            label={state.copied ? t("action.copied") : (copy ?? t("action.copy"))}
            onClick={state.copy}
            className={classes.copy ?? ""}
          />
        )}
      </CopyButton>
    </div>
  );
}
