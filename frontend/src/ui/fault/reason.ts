import type { i18n as I18n } from "i18next";
import { useTranslation } from "react-i18next";

type Reasons = readonly (readonly [pattern: string, said: string])[];

/** A sentence in the language of the table, or as it came where the table has none. */
export function sayReason(reason: string, table: Reasons): string {
  for (const [pattern, said] of table) {
    const found = new RegExp(`^(?:${pattern})$`, "s").exec(reason);
    if (found !== null)
      return said.replace(/\$(\d)/g, (_, group: string) => sayReason(found[Number(group)] ?? "", table));
  }
  return reason;
}

/** Says what a sender or an agent gave as its reason, in the page's language. */
export function useReasonText(): (reason: string) => string {
  const { i18n } = useTranslation() as { i18n: I18n };
  // English has no table: its sentences are the originals.
  const table = i18n.getResource(i18n.language, "translation", "reasons") as Reasons | undefined;
  return (reason) => (table === undefined ? reason : sayReason(reason, table));
}
