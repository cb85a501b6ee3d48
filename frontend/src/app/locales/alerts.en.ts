/** Texts of alerts, their history and rules. */
export const alerts = {
  title: "Alerts",
};
