/** Texts of users, tokens, the audit log and signing in. */
export const users = {
  title: "Access",
};
