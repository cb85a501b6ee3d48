import { useTranslation } from "react-i18next";

export function ReceiversPage() {
  const { t } = useTranslation();
  return <h1>{t("notify.title")}</h1>;
}
