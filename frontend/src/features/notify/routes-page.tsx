import { useTranslation } from "react-i18next";

export function RoutesPage() {
  const { t } = useTranslation();
  return <h1>{t("notify.title")}</h1>;
}
