import { useTranslation } from "react-i18next";
import { formatShare } from "@/lib/view/share";
import { useLiveFindings } from "@/panels/findings/use-live-findings";
import { useWords } from "@/panels/findings/words";
import { useHeadroom } from "@/panels/headroom/use-headroom";
import { usePageTitle } from "@/ui/page/use-page-title";

/** What ran out first in the window's title, to be seen from another tab; where nothing did, the nearest limit. */
export function useLiveTitle(): void {
  const { t } = useTranslation();
  const words = useWords();
  const headline = useLiveFindings().data?.headline;
  const nearest = useHeadroom().data?.resources[0];
  const near = nearest && t("live.titleNear", { headroom: formatShare(nearest.headroom), resource: nearest.title });
  usePageTitle(headline?.kind === "found" ? words(headline.title) : (near ?? t("live.title")));
}
