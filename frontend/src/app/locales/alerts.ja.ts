/** アラート、履歴、ルールの文言。 */
export const alerts = {
  title: "アラート",
  navLabel: "アラートのページ",
  nav_now: "現在",
  nav_history: "履歴",
  nav_rules: "ルール",
  nav_silences: "サイレンス",
  nav_routes: "ルート",
  nav_receivers: "受信先",
  nav_deliveries: "配送ログ",
};
