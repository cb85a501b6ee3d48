import { useTranslation } from "react-i18next";

export function HistoryPage() {
  const { t } = useTranslation();
  return <h1>{t("alerts.title")}</h1>;
}
