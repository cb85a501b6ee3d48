import { useTranslation } from "react-i18next";

export function ComparePage() {
  const { t } = useTranslation();
  return <h1>{t("nav.runs")}</h1>;
}
