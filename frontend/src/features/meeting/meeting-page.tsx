import { useTranslation } from "react-i18next";

export function MeetingPage() {
  const { t } = useTranslation();
  return <h1>{t("nav.runs")}</h1>;
}
