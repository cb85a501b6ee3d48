import { useViewportSize } from "@mantine/hooks";
import { useTranslation } from "react-i18next";
import { useFeedState } from "@/panels/feed/feed-context";
import { hasFleet } from "@/panels/fleet-series";
import { FleetSwitch } from "@/panels/fleet-switch";
import type { PanelInfo } from "@/panels/panel-catalogue";
import { Dialog } from "@/ui/form/dialog";
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
  const fleet = hasFleet(panel, useFeedState().answers.get(panel.id));
  const group = panel.signals[0]?.group ?? "";
  return (
    <Dialog
      fullScreen
      onClose={onClose}
      title={panel.title}
      closeButtonProps={{ "aria-label": t("panel.closeFull") }}
      transitionProps={{ duration: 0 }}
    >
      {fleet && <FleetSwitch group={group} title={panel.title} />}
      <FedPanel panel={panel} height={Math.max(240, height - 190)} context={context} />
    </Dialog>
  );
}
