/** アラート、履歴、ルールの文言。 */
export const alerts = {
  title: "アラート",
};
