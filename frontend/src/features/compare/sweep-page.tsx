import { useTranslation } from "react-i18next";

export function SweepPage() {
  const { t } = useTranslation();
  return <h1>{t("nav.runs")}</h1>;
}
