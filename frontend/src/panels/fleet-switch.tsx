import { SegmentedControl } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { FleetMode } from "@/lib/series/fleet";
import { useView } from "@/lib/view/context";

const MODES: readonly FleetMode[] = ["total", "each", "spread"];

/** How the instances of a group are drawn; part of the address. */
export function FleetSwitch({ group, title }: { group: string; title: string }) {
  const { t } = useTranslation();
  const { fleets, change } = useView();
  const pick = (mode: string) => {
    const { [group]: _former, ...others } = fleets;
    const next = MODES.find((one) => one === mode) ?? "total";
    change({ fleets: next === "total" ? others : { ...others, [group]: next } });
  };
  return (
    <SegmentedControl
      size="xs"
      aria-label={t("fleet.label", { group: title })}
      data={MODES.map((mode) => ({ value: mode, label: t(`fleet.${mode}`) }))}
      value={fleets[group] ?? "total"}
      onChange={pick}
    />
  );
}
