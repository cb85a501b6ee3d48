/** ユーザー、トークン、監査ログ、サインインの文言。 */
export const users = {
  title: "アクセス",
};
