import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

it("no room holds more than twenty files", () => {
  const files = readdirSync(join(import.meta.dirname, ".."), { recursive: true, withFileTypes: true });
  const rooms = new Map<string, number>();
  for (const { parentPath } of files.filter((entry) => entry.isFile())) {
    rooms.set(parentPath, (rooms.get(parentPath) ?? 0) + 1);
  }
  expect([...rooms].filter(([, count]) => count > 20)).toEqual([]);
});
