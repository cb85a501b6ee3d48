/** Remarks of imports and analyses in the reader's language: the server's text, or one by its code. Pure. */
import type { Locale } from "@/lib/time/time";
import { formatValue } from "@/lib/units";

interface Remark {
  readonly code: string;
  readonly text: string;
  readonly figures: Readonly<Record<string, number>>;
}

/** What the remark says: the template of its code where there is one (not empty) and it has all figures, else the server's text. */
export function remarkText(remark: Remark, template: string, locale: Locale): string {
  if (template === "") return remark.text;
  const names = [...template.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? "");
  if (names.some((name) => remark.figures[name] === undefined)) return remark.text;
  return template.replace(/\{(\w+)\}/g, (_, name: string) => figureText(name, remark.figures[name] ?? 0, locale));
}

/** Figures are named after what they are: a latency's quantile, bytes, or a count. */
function figureText(name: string, value: number, locale: Locale): string {
  if (/bytes/.test(name)) return formatValue(value, "bytes", locale);
  if (/(^|_)(p\d+|mean|min|max|latency|seconds)$/.test(name)) return formatValue(value, "seconds", locale);
  return formatValue(value, "count", locale);
}
