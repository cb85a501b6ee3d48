/** Texts of routes, silences, receivers and deliveries. */
export const notify = {
  title: "Notifications",
};
