import { useViewportSize } from "@mantine/hooks";
import { useTranslation } from "react-i18next";
import { useFeedState } from "@/panels/feed/feed-context";
import { FleetSwitch } from "@/panels/fleet-switch";
import { hasFleet, usualMode } from "@/panels/fleet-together";
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
  const answer = useFeedState().answers.get(panel.id);
  const group = panel.signals[0]?.group ?? "";
  return (
    <Dialog
      fullScreen
      onClose={onClose}
      title={panel.title}
      closeButtonProps={{ "aria-label": t("panel.closeFull") }}
      transitionProps={{ duration: 0 }}
    >
      {hasFleet(panel, answer) && <FleetSwitch group={group} title={panel.title} usual={usualMode(panel, answer)} />}
      <FedPanel panel={panel} height={Math.max(240, height - 190)} context={context} />
    </Dialog>
  );
}
