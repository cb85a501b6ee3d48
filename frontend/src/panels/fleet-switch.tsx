import { SegmentedControl } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { FleetMode } from "@/lib/series/fleet";
import { useView } from "@/lib/view/context";

const MODES: readonly FleetMode[] = ["total", "each", "spread"];

interface Props {
  readonly group: string;
  readonly title: string;
  /** How they are drawn where nobody has chosen. */
  readonly usual: FleetMode;
}

/** How the instances of a group are drawn; a choice is part of the address. */
export function FleetSwitch({ group, title, usual }: Props) {
  const { t } = useTranslation();
  const { fleets, change } = useView();
  const pick = (mode: string) => {
    const next = MODES.find((one) => one === mode) ?? usual;
    change({ fleets: { ...fleets, [group]: next } });
  };
  return (
    <SegmentedControl
      size="xs"
      aria-label={t("fleet.label", { group: title })}
      data={MODES.map((mode) => ({ value: mode, label: t(`fleet.${mode}`) }))}
      value={fleets[group] ?? usual}
      onChange={pick}
    />
  );
}
