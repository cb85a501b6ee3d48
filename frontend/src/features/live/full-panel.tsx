import { Modal } from "@mantine/core";
import { useViewportSize } from "@mantine/hooks";
import { useTranslation } from "react-i18next";
import type { PanelInfo } from "@/panels/panel-catalogue";
import { FedPanel, type PanelContext } from "./group-section";

/** One chart over the whole window; its address can be shared. */
export function FullPanel({
  panel,
  context,
  onClose,
}: {
  panel: PanelInfo;
  context: PanelContext;
  onClose: () => void;
}) {
  const { t } = useTranslation();
  const { height } = useViewportSize();
  return (
    <Modal
      opened
      fullScreen
      onClose={onClose}
      title={panel.title}
      closeButtonProps={{ "aria-label": t("panel.closeFull") }}
      transitionProps={{ duration: 0 }}
    >
      <FedPanel panel={panel} height={Math.max(240, height - 190)} context={context} />
    </Modal>
  );
}
