/** The list of metrics: search in it, and what is known of each. Pure. */
import type { MetricFacts } from "@/api/explore/queries";

type Metadata = Readonly<Record<string, readonly MetricFacts[]>> | undefined;

/** Series of histograms and summaries have what is known of their family. */
export function factsOf(metadata: Metadata, name: string): MetricFacts | undefined {
  return metadata?.[name]?.[0] ?? metadata?.[name.replace(/_(bucket|sum|count|total)$/, "")]?.[0];
}

/** Names that have each word in them or in their help; those that begin with the text first. */
export function matching(names: readonly string[], metadata: Metadata, text: string): readonly string[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (name: string) => {
    const whole = `${name} ${factsOf(metadata, name)?.help ?? ""}`.toLowerCase();
    return words.every((word) => whole.includes(word));
  };
  const found = words.length === 0 ? names : names.filter(has);
  const begins = (name: string) => name.toLowerCase().startsWith(words[0] ?? "");
  return [...found.filter(begins), ...found.filter((name) => !begins(name))];
}
