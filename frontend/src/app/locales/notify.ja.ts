/** ルート、サイレンス、受信先、配送の文言。 */
export const notify = {
  title: "通知",
};
