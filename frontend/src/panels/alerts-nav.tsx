import { useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";
import { NavLink, useSearchParams } from "react-router";
import classes from "@/ui/tab-bar.module.css";

const TABS = [
  ["now", "/alerts"],
  ["history", "/alerts/history"],
  ["rules", "/alerts/rules"],
  ["silences", "/alerts/silences"],
  ["routes", "/alerts/routes"],
  ["receivers", "/alerts/receivers"],
  ["deliveries", "/alerts/deliveries"],
] as const;

/** The pages of alerts side by side; of the address only the time zone goes along. */
export function AlertsNav() {
  const { t } = useTranslation();
  const [params] = useSearchParams();
  const zone = params.get("tz");
  const bar = useRef<HTMLElement>(null);
  useEffect(() => {
    // On a phone the bar scrolls by itself; the page that is shown must be among the names that are.
    const chosen = bar.current?.querySelector<HTMLElement>("[aria-current=page]");
    if (bar.current && chosen) bar.current.scrollLeft = chosen.offsetLeft - bar.current.clientWidth / 2 + 40;
  }, []);
  return (
    <nav ref={bar} className={classes.bar} aria-label={t("alerts.navLabel")}>
      {TABS.map(([id, path]) => (
        <NavLink
          key={id}
          to={zone === null ? path : `${path}?tz=${zone}`}
          end={path === "/alerts"}
          className={classes.tab ?? ""}
        >
          {t(`alerts.nav_${id}`)}
        </NavLink>
      ))}
    </nav>
  );
}
