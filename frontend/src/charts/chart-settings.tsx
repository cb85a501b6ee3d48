import { createContext, type ReactNode, use, useMemo, useState } from "react";
import { CrosshairGroup } from "@/charts/crosshair-group";
import type { Locale, TimeZone } from "@/lib/time/time";

export interface ChartSettings {
  readonly locale: Locale;
  readonly timeZone: TimeZone;
  readonly group: CrosshairGroup;
}

const Context = createContext<ChartSettings>({ locale: "en", timeZone: "local", group: new CrosshairGroup() });

/** Language, time zone and shared crosshair of all charts below. */
export function ChartSettingsProvider(props: { locale: Locale; timeZone: TimeZone; children: ReactNode }) {
  const { locale, timeZone, children } = props;
  const [group] = useState(() => new CrosshairGroup());
  const settings = useMemo(() => ({ locale, timeZone, group }), [locale, timeZone, group]);
  return <Context value={settings}>{children}</Context>;
}

export function useChartSettings(): ChartSettings {
  return use(Context);
}
