/** Texts of alerts, their history and rules. */
export const alerts = {
  title: "Alerts",
  navLabel: "Pages of alerts",
  nav_now: "Now",
  nav_history: "History",
  nav_rules: "Rules",
  nav_silences: "Silences",
  nav_routes: "Routes",
  nav_receivers: "Receivers",
  nav_deliveries: "Deliveries",
};
