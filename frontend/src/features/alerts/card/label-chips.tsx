import { useTranslation } from "react-i18next";
import { Tag, Tags } from "@/ui/text/tag";
import { Dim } from "@/ui/text/text";
import { tellingLabels } from "../model/text";

/** The labels that tell an alert from others of its rule. */
export function LabelChips({ labels }: { labels: Readonly<Record<string, string>> }) {
  const { t } = useTranslation();
  const shown = tellingLabels(labels);
  if (shown.length === 0) return null;
  return (
    <Tags label={t("alerts.labels")}>
      {shown.map(([name, value]) => (
        <li key={name}>
          <Tag>
            <Dim>{name}</Dim> {value}
          </Tag>
        </li>
      ))}
    </Tags>
  );
}
