import { Button, Modal, type ModalProps } from "@mantine/core";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Buttons, Form } from "./form";
import classes from "./form.module.css";
import { Sheet } from "./sheet";

/** A dialog, open as long as it is there unless `opened` says otherwise. */
export function Dialog({ opened = true, ...modal }: Omit<ModalProps, "opened"> & { opened?: boolean }) {
  const { t } = useTranslation();
  return <Modal opened={opened} closeButtonProps={{ "aria-label": t("action.close") }} {...modal} />;
}

interface Props {
  readonly title: string;
  readonly size?: string;
  /** What the button does that ends it. */
  readonly submit: string;
  readonly busy?: boolean;
  readonly disabled?: boolean;
  /** It takes away for good. */
  readonly danger?: boolean;
  /** Which button has the focus at first; without it the first field. */
  readonly focus?: "cancel" | "submit" | undefined;
  /** On a phone it comes from below, where the thumb is. */
  readonly sheet?: boolean;
  /** Why the last try failed. */
  readonly fault?: ReactNode;
  /** A button at the start of the row. */
  readonly aside?: ReactNode;
  readonly onSubmit: () => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A form in a dialog, with its buttons and its fault. */
export function FormDialog({ title, size = "md", sheet = false, onSubmit, onClose, children, fault, ...row }: Props) {
  const { t } = useTranslation();
  const { submit, busy = false, disabled = false, danger = false, focus = danger ? "cancel" : undefined, aside } = row;
  const Frame = sheet ? Sheet : Dialog;
  return (
    <Frame onClose={onClose} title={title} size={size}>
      <Form onSubmit={onSubmit}>
        {children}
        {fault}
        <Buttons>
          {aside}
          <Button variant="default" onClick={onClose} data-autofocus={focus === "cancel" || undefined}>
            {t("action.cancel")}
          </Button>
          <Button
            type="submit"
            loading={busy}
            disabled={disabled}
            data-autofocus={focus === "submit" || undefined}
            className={danger ? (classes.danger ?? "") : ""}
          >
            {submit}
          </Button>
        </Buttons>
      </Form>
    </Frame>
  );
}
