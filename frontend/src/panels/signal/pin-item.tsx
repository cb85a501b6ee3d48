import { Menu } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { pinPanel, removePanel } from "@/api/queries";
import { useMay } from "@/lib/access-scopes";
import { type PanelInfo, PINNED_GROUP } from "@/panels/panel-catalogue";
import { faultText } from "@/ui/fault/problem";
import { Icon } from "@/ui/icon";
import { notifyGood, notifyProblem } from "@/ui/notify";
import { useChange } from "@/ui/use-change";

/** Puts a copy of a panel on top of the live page, or takes one away: lines of a file on the server. */
export function PinItem({ panel }: { panel: PanelInfo }) {
  const { t } = useTranslation();
  const may = useMay("admin");
  const signals = panel.signals.map(({ id }) => id);
  const pin = useChange(() => pinPanel({ signals }), {
    touches: ["signals"],
    onDone: ({ file }) => notifyGood(t("panel.pinned", { file })),
    onFault: (error) => notifyProblem(t("panel.pinFailed"), faultText(error, t)),
  });
  const remove = useChange(() => removePanel(panel.id), {
    touches: ["signals"],
    said: t("panel.removed"),
    onFault: (error) => notifyProblem(t("panel.removeFailed"), faultText(error, t)),
  });
  if (!may) return null;
  const isPinned = panel.signals[0]?.group === PINNED_GROUP;
  return (
    <Menu.Item
      leftSection={<Icon name={isPinned ? "trash" : "pin"} />}
      onClick={() => (isPinned ? remove : pin).mutate()}
    >
      {isPinned ? t("panel.remove") : t("panel.pin")}
    </Menu.Item>
  );
}
