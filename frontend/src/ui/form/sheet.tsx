import { Drawer, Modal } from "@mantine/core";
import { type ReactNode, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { useNarrow } from "@/ui/use-narrow";
import classes from "./form.module.css";

interface Props {
  readonly title: string;
  readonly size?: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A dialog; on a phone it comes from below, where the thumb is. */
export function Sheet({ title, size = "md", onClose, children }: Props) {
  const { t } = useTranslation();
  useFocusBack();
  const narrow = useNarrow();
  const shared = { opened: true, onClose, title, closeButtonProps: { "aria-label": t("action.close"), size: "lg" } };
  if (!narrow) {
    return (
      <Modal {...shared} size={size}>
        {children}
      </Modal>
    );
  }
  return (
    <Drawer {...shared} position="bottom" size="auto" classNames={{ content: classes.sheet ?? "" }}>
      {children}
    </Drawer>
  );
}

/** The sheet is taken away rather than closed, so what had the focus before gets it back here. */
function useFocusBack(): void {
  const [before] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      if (before instanceof HTMLElement) before.focus({ preventScroll: true });
    },
    [before],
  );
}
