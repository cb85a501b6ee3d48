import { useTranslation } from "react-i18next";
import { Dim } from "@/ui/text/text";
import { tellingLabels } from "../model/text";
import classes from "./alert-card.module.css";

/** The labels that tell an alert from others of its rule. */
export function LabelChips({ labels }: { labels: Readonly<Record<string, string>> }) {
  const { t } = useTranslation();
  const shown = tellingLabels(labels);
  if (shown.length === 0) return null;
  return (
    <ul className={classes.chips} aria-label={t("alerts.labels")}>
      {shown.map(([name, value]) => (
        <li key={name}>
          <Dim>{name}</Dim> {value}
        </li>
      ))}
    </ul>
  );
}
