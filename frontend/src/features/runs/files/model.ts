import type { EvidenceFile } from "@/api/evidence/types";

const PICTURES: readonly string[] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const MOST_PICTURE_BYTES = 8_000_000;
const MOST_TEXT_BYTES = 600_000;

/** Whether the content, and not the name, is that of a picture small enough to be drawn. */
export function isPicture(file: EvidenceFile): boolean {
  return PICTURES.includes(file.media_type) && file.bytes <= MOST_PICTURE_BYTES;
}

/** Whether the page shows it as text. */
export function isShown(file: EvidenceFile): boolean {
  return file.media_type === "text/plain" && file.bytes <= MOST_TEXT_BYTES;
}

/** What `loadwatch run` says of a patch: keys of texts, with their numbers; zero is not said. */
export function factTexts(file: EvidenceFile): ["patch" | "named" | "masked", number][] {
  if (file.kind !== "patch") return [];
  const facts = file.facts as Record<string, unknown>;
  const numbers = [
    ["patch", facts.files],
    ["named", facts.named],
    ["masked", facts.masked],
  ] as const;
  return numbers.flatMap(([key, value]) =>
    typeof value === "number" && value > 0 ? [[key, value] satisfies [typeof key, number]] : [],
  );
}
