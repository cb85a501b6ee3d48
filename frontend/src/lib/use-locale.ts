import { useTranslation } from "react-i18next";
import type { Locale } from "@/lib/time/time";

/** The page's language as the formatting functions name it. */
export function useLocale(): Locale {
  const { i18n } = useTranslation();
  return i18n.resolvedLanguage === "ja" ? "ja" : "en";
}
