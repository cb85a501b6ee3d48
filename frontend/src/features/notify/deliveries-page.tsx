import { useTranslation } from "react-i18next";

export function DeliveriesPage() {
  const { t } = useTranslation();
  return <h1>{t("notify.title")}</h1>;
}
