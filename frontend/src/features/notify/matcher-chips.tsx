import { useTranslation } from "react-i18next";
import { Tag, Tags } from "@/ui/text/tag";

/** Conditions, all of which must hold. */
export function MatcherChips({ matchers, label }: { matchers: readonly string[]; label?: string }) {
  const { t } = useTranslation();
  return (
    <Tags label={label ?? t("notify.matchers")}>
      {matchers.map((matcher) => (
        <li key={matcher}>
          <Tag code>{matcher}</Tag>
        </li>
      ))}
    </Tags>
  );
}
