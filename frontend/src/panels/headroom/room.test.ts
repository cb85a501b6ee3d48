import { expect, it } from "vitest";
import { writePreference } from "@/lib/view/preferences";
import { rememberRoom, roomBefore } from "./room";

it("is known from the second visit on", () => {
  globalThis.localStorage.clear();
  expect(roomBefore()).toBeNull();
  rememberRoom({ lines: 4, more: true });
  expect(roomBefore()).toEqual({ lines: 4, more: true });
  rememberRoom({ lines: 12, more: false });
  expect(roomBefore()).toEqual({ lines: 12, more: false });
});

it("is unknown where storage holds something else", () => {
  writePreference("limits", "many");
  expect(roomBefore()).toBeNull();
});
