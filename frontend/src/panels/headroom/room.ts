import { readPreference, writePreference } from "@/lib/view/preferences";

/** How many limits beside the nearest one stood there when somebody last looked: their room is kept free. */
const NAME = "limits";

/** Null at a first visit. */
export function roomBefore(): number | null {
  const lines = readPreference(NAME) ?? "";
  return /^\d{1,4}$/.test(lines) ? Number(lines) : null;
}

export function rememberRoom(lines: number): void {
  writePreference(NAME, String(lines));
}
