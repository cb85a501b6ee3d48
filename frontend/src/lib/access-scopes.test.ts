// @vitest-environment jsdom
import { expect, it } from "vitest";
import type { Session } from "@/api/types";
import { mayOf } from "./access-scopes";

const viewer: Session = {
  access: "users",
  principal: { name: "mika", role: "viewer", scopes: ["read"], kind: "user" },
  ways: { token: true, password: true, oidc: null },
  setup: false,
};

it("allows what the scopes name and nothing else", () => {
  expect(mayOf(viewer, "read")).toBe(true);
  expect(mayOf(viewer, "alerts:write")).toBe(false);
  expect(mayOf({ ...viewer, principal: null }, "read")).toBe(false);
  expect(mayOf(undefined, "read")).toBe(false);
});
