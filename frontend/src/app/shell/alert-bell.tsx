import { useTranslation } from "react-i18next";
import { NavLink, useSearchParams } from "react-router";
import { useFiringAlerts } from "@/features/alerts/model/firing-alerts";
import { Icon } from "@/ui/icon";
import classes from "./alert-bell.module.css";

/** How many alerts fire: those that nobody has seen, in colour; else those that are in hand, without. */
export function FiringCount() {
  const { t } = useTranslation();
  const { firing, loud } = useFiringAlerts();
  if (firing === 0) return null;
  const count = loud > 0 ? loud : firing;
  return (
    <span className={classes.count} data-loud={loud > 0}>
      <span aria-hidden="true">{count}</span>
      <span className="lw-visually-hidden">
        {loud > 0 ? t("alerts.bell.firing", { total: count }) : t("alerts.bell.inHand", { total: count })}
      </span>
    </span>
  );
}

/** The way to the alerts where the header has no room for the pages' names. */
export function AlertBell() {
  const { t } = useTranslation();
  const [params] = useSearchParams();
  const zone = params.get("tz");
  return (
    <NavLink to={zone === null ? "/alerts" : `/alerts?tz=${zone}`} className={classes.bell ?? ""}>
      <Icon name="bell" size={18} />
      <span className="lw-visually-hidden">{t("nav.alerts")}</span>
      <FiringCount />
    </NavLink>
  );
}
