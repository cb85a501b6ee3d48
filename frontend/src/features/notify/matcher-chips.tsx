import { useTranslation } from "react-i18next";
import classes from "./notify.module.css";

/** Conditions, all of which must hold. */
export function MatcherChips({ matchers, label }: { matchers: readonly string[]; label?: string }) {
  const { t } = useTranslation();
  return (
    <ul className={classes.chips} aria-label={label ?? t("notify.matchers")}>
      {matchers.map((matcher) => (
        <li key={matcher} className={classes.chip}>
          {matcher}
        </li>
      ))}
    </ul>
  );
}
