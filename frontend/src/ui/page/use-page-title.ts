import { useEffect } from "react";
import { useTranslation } from "react-i18next";

/** Names the window after the page. */
export function usePageTitle(title: string): void {
  const { t } = useTranslation();
  useEffect(() => {
    document.title = `${title} · ${t("product")}`;
  }, [title, t]);
}
