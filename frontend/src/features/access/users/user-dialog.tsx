import { Button, Modal } from "@mantine/core";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import classes from "../access.module.css";
import { FaultText } from "../fault-text";

interface Props {
  readonly title: string;
  readonly submit: string;
  readonly busy: boolean;
  readonly error: Error | null;
  readonly onSubmit: () => void;
  readonly onClose: () => void;
  readonly disabled?: boolean;
  readonly danger?: boolean;
  readonly children: ReactNode;
}

/** A form in a dialog, with its buttons and its fault. */
export function UserDialog(props: Props) {
  const { t } = useTranslation();
  const { title, submit, busy, error, onSubmit, onClose, disabled = false, danger = false, children } = props;
  return (
    <Modal opened onClose={onClose} title={title} closeButtonProps={{ "aria-label": t("action.close") }}>
      <form
        className={classes.form}
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit();
        }}
      >
        {children}
        <FaultText error={error} />
        <div className={classes.buttons}>
          <Button variant="default" onClick={onClose} {...(danger && { "data-autofocus": true })}>
            {t("action.cancel")}
          </Button>
          <Button
            type="submit"
            loading={busy}
            disabled={disabled}
            className={danger ? (classes.dangerButton ?? "") : ""}
          >
            {submit}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
