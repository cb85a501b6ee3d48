import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { PageMessage } from "@/ui/page-message";

export function NotFound() {
  const { t } = useTranslation();
  return (
    <PageMessage icon="unknown" title={t("error.notFound")} whole>
      <p>{t("error.notFoundHint")}</p>
      <Link to="/">{t("error.toLive")}</Link>
    </PageMessage>
  );
}
