import { Checkbox } from "@mantine/core";
import { useViewportSize } from "@mantine/hooks";
import { useTranslation } from "react-i18next";
import { useView } from "@/lib/view/context";
import { useFeedState } from "@/panels/feed/feed-context";
import { FleetSwitch } from "@/panels/fleet-switch";
import { hasFleet, usualMode } from "@/panels/fleet-together";
import type { PanelInfo } from "@/panels/panel-catalogue";
import { Dialog } from "@/ui/form/dialog";
import { FedPanel, type PanelContext } from "./group-section";
import classes from "./live-page.module.css";

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
  const { perInstance, change } = useView();
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
      <div className={classes.groupRow}>
        {hasFleet(panel, answer) && !perInstance && (
          <FleetSwitch group={group} title={panel.title} usual={usualMode(panel, answer)} />
        )}
        {panel.table !== true && (
          <Checkbox
            label={t("panel.perInstance")}
            checked={perInstance}
            onChange={(event) => change({ perInstance: event.currentTarget.checked })}
          />
        )}
      </div>
      <FedPanel {...{ panel, context, perInstance }} height={Math.max(240, height - 190)} />
    </Dialog>
  );
}
