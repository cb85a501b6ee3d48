/** The last expressions that were run in this browser, the newest first. */
import { readPreference, writePreference } from "@/lib/view/preferences";

export const MOST_REMEMBERED = 50;
const PREFERENCE = "explore-history";

export function withExpression(held: readonly string[], expression: string): readonly string[] {
  return [expression, ...held.filter((one) => one !== expression)].slice(0, MOST_REMEMBERED);
}

/** What another version of the page wrote, or a hand, is read as far as it can be. */
export function readHistory(text = readPreference(PREFERENCE)): readonly string[] {
  try {
    const held: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(held) ? held.filter((one) => typeof one === "string").slice(0, MOST_REMEMBERED) : [];
  } catch {
    return [];
  }
}

export function remember(expression: string): void {
  writePreference(PREFERENCE, JSON.stringify(withExpression(readHistory(), expression)));
}
