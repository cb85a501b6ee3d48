// @vitest-environment jsdom
import { expect, it } from "vitest";
import { writePreference } from "@/lib/view/preferences";
import { rememberRoom, roomBefore } from "./room";

it("is known from the second visit on", () => {
  globalThis.localStorage.clear();
  expect(roomBefore()).toBeNull();
  rememberRoom(12);
  expect(roomBefore()).toBe(12);
});

it("is unknown where storage holds something else", () => {
  writePreference("limits", "many");
  expect(roomBefore()).toBeNull();
});
