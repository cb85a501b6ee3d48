import { useTranslation } from "react-i18next";

export function TrendPage() {
  const { t } = useTranslation();
  return <h1>{t("nav.runs")}</h1>;
}
