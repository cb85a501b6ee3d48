import { expect, it } from "vitest";
import { commandsFor, isLoopback } from "./model";

it("names this server's address in the commands for other hosts", () => {
  expect(commandsFor("https://watch.example:8443")).toContain("--write --server https://watch.example:8443\n");
});

it("knows addresses that no other host reaches", () => {
  expect(["localhost", "127.0.0.1", "127.8.0.1", "[::1]"].every(isLoopback)).toBe(true);
  expect(["10.0.0.1", "watch.example", "localhost.example", "192.168.0.127"].some(isLoopback)).toBe(false);
});
