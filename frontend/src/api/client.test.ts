// @vitest-environment jsdom
import { afterEach, expect, it, vi } from "vitest";
import { type ApiError, api, unwrap } from "./client";

afterEach(() => vi.unstubAllGlobals());

function answer(status: number, body: string, type = "application/problem+json", more: Record<string, string> = {}) {
  vi.stubGlobal("fetch", async () => new Response(body, { status, headers: { "Content-Type": type, ...more } }));
}
const failure = () =>
  unwrap(api.GET("/api/targets")).then(
    () => null,
    (error: unknown) => error as ApiError,
  );

it("problem details become an error with code and text", async () => {
  answer(422, JSON.stringify({ status: 422, code: "signal-span", detail: "The end lies before the start." }));
  expect(await failure()).toMatchObject({
    status: 422,
    code: "signal-span",
    message: "The end lies before the start.",
  });
});

it("an error holds the time that the server asks to wait", async () => {
  answer(429, JSON.stringify({ code: "too-many", detail: "Wait." }), "application/problem+json", {
    "Retry-After": "90",
  });
  expect(await failure()).toMatchObject({ status: 429, retryAfter: 90 });
  answer(429, JSON.stringify({ code: "too-many", detail: "Wait." }));
  expect(await failure()).toMatchObject({ retryAfter: null });
});

it("no answer, and a proxy's own error page, mean that the server is away", async () => {
  vi.stubGlobal("fetch", async () => Promise.reject(new TypeError("connection refused")));
  expect(await failure()).toMatchObject({ status: 0, code: "offline" });
  answer(502, "<html>bad gateway</html>", "text/html");
  expect(await failure()).toMatchObject({ status: 502, code: "offline" });
});

it("a good answer is its body", async () => {
  answer(200, JSON.stringify({ now_ms: 1, targets: [] }), "application/json");
  expect(await unwrap(api.GET("/api/targets"))).toEqual({ now_ms: 1, targets: [] });
  expect(await failure()).toBeNull();
});
