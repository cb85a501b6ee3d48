import type { TFunction } from "i18next";

/** What went wrong and what to do; the server says it, unless it is the server that does not answer. */
export function problemText(error: Error, t: TFunction): string {
  return error.message === "offline" ? t("error.offlineHint") : error.message;
}
