import { useTranslation } from "react-i18next";

/** Texts of the server's stable codes: the catalogue's where it has one, else what the server says itself. */
export function useCodeText() {
  const { t, i18n } = useTranslation();
  const say = i18n.t as unknown as (key: string, values: Record<string, unknown>) => string;
  return (key: string, fallback: string, values: Record<string, unknown> = {}): string =>
    i18n.exists(key) ? say(key, values) : fallback || t("runs.page.unknownCode");
}
