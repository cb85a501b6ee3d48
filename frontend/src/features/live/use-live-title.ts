import { useTranslation } from "react-i18next";
import { formatShare } from "@/lib/view/share";
import { useHeadroom } from "@/panels/headroom/use-headroom";
import { usePageTitle } from "@/ui/page/use-page-title";

/** The nearest limit in the window's title, to be seen from another tab. */
export function useLiveTitle(): void {
  const { t } = useTranslation();
  const nearest = useHeadroom().data?.resources[0];
  const text =
    nearest === undefined
      ? t("live.title")
      : t("live.titleNear", {
          headroom: formatShare(nearest.headroom),
          resource: nearest.title,
        });
  usePageTitle(text);
}
