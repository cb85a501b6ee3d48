import { useEffect } from "react";
import { useTranslation } from "react-i18next";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { useHeadroom } from "@/panels/headroom-strip";

/** The nearest limit in the window's title, to be seen from another tab. */
export function useLiveTitle(): void {
  const { t } = useTranslation();
  const locale = useLocale();
  const nearest = useHeadroom().data?.resources[0];
  const text =
    nearest === undefined
      ? t("live.title")
      : t("live.titleNear", {
          headroom: formatValue(Math.max(0, Math.round(nearest.headroom * 100) / 100), "ratio", locale),
          resource: nearest.title,
        });
  useEffect(() => {
    document.title = `${text} · ${t("product")}`;
  }, [text, t]);
}
