import { useTranslation } from "react-i18next";
import type { PoolSetting } from "@/api/pools/types";
import { formatDuration } from "@/lib/time/time";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";

/** A setting's value in words: connections or a time, where 0 is unlimited or for ever. */
export function useSettingText(): (name: PoolSetting["name"], value: number | null) => string {
  const { t } = useTranslation();
  const locale = useLocale();
  return (name, value) => {
    if (value === null) return t("pools.unknown");
    if (name === "lifetime" || name === "idle_time")
      return value === 0 ? t("pools.forever") : formatDuration(value * 1000, locale);
    return name === "max_open" && value === 0 ? t("pools.unlimited") : formatValue(value, "count", locale);
  };
}
