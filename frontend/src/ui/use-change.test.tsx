import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, renderHook } from "@testing-library/react";
import type { ReactNode } from "react";
import { beforeEach, expect, it, vi } from "vitest";
import { notifyGood } from "@/ui/notify";
import { useChange } from "./use-change";

vi.mock("@/ui/notify", () => ({ notifyGood: vi.fn() }));
beforeEach(() => void vi.mocked(notifyGood).mockClear());

function changed(change: () => Promise<string>, onDone: (made: string) => void) {
  const client = new QueryClient();
  client.setQueryData(["things", "list"], []);
  client.setQueryData(["others"], []);
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={client}>{children}</QueryClientProvider>
  );
  const { result } = renderHook(() => useChange(change, { touches: ["things"], said: "Saved", onDone }), { wrapper });
  const old = (key: readonly string[]) => client.getQueryState(key)?.isInvalidated;
  return { run: () => act(() => result.current.mutateAsync().catch(() => "")), old };
}

it("says that it is done, hands on what came of it, and has what it touched read again", async () => {
  const onDone = vi.fn();
  const { run, old } = changed(() => Promise.resolve("made"), onDone);
  await run();
  expect(notifyGood).toHaveBeenCalledWith("Saved");
  expect(onDone).toHaveBeenCalledWith("made");
  expect([old(["things", "list"]), old(["others"])]).toEqual([true, false]);
});

it("says nothing when it failed, and has read again what may have become of it", async () => {
  const onDone = vi.fn();
  const { run, old } = changed(() => Promise.reject(new Error("refused")), onDone);
  await run();
  expect(notifyGood).not.toHaveBeenCalled();
  expect(onDone).not.toHaveBeenCalled();
  expect(old(["things", "list"])).toBe(true);
});
