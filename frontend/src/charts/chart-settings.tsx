import { createContext, type ReactNode, use, useMemo, useState } from "react";
import { CrosshairGroup } from "@/charts/crosshair-group";
import type { ChartMessages } from "@/charts/messages";
import type { Locale, TimeZone } from "@/lib/time/time";

export interface ChartSettings {
  readonly locale: Locale;
  readonly timeZone: TimeZone;
  readonly messages: ChartMessages;
  readonly group: CrosshairGroup;
}

const Context = createContext<ChartSettings | null>(null);

/** Language with its texts, time zone and shared crosshair of all charts below. */
export function ChartSettingsProvider(props: Omit<ChartSettings, "group"> & { children: ReactNode }) {
  const { locale, timeZone, messages, children } = props;
  const [group] = useState(() => new CrosshairGroup());
  const settings = useMemo(() => ({ locale, timeZone, messages, group }), [locale, timeZone, messages, group]);
  return <Context value={settings}>{children}</Context>;
}

export function useChartSettings(): ChartSettings {
  const settings = use(Context);
  if (settings === null) throw new Error("A chart needs a ChartSettingsProvider around it.");
  return settings;
}
