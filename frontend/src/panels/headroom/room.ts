import { readPreference, writePreference } from "@/lib/view/preferences";

/** The room that limits took when somebody last looked: it is kept free until they are read again. */
export interface Room {
  /** Other limits than the nearest. */
  readonly lines: number;
  /** Whether a line with buttons stands below them. */
  readonly more: boolean;
}

const NAME = "limits";

/** Null at a first visit. */
export function roomBefore(): Room | null {
  const [, lines, more] = /^(\d{1,4})(\+?)$/.exec(readPreference(NAME) ?? "") ?? [];
  return lines === undefined ? null : { lines: Number(lines), more: more === "+" };
}

export function rememberRoom({ lines, more }: Room): void {
  writePreference(NAME, `${lines}${more ? "+" : ""}`);
}
