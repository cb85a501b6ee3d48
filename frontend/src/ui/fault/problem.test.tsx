import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { ApiError } from "@/api/client";
import { FaultText, Problem } from "./problem";

vi.mock("react-i18next", () => ({
  useTranslation: () => ({ t: (key: string, { defaultValue = key } = {}) => TEXTS[key] ?? defaultValue }),
}));
const TEXTS: Readonly<Record<string, string>> = { "faults.conflict": "競合しました。" };

afterEach(() => {
  cleanup();
  document.documentElement.lang = "";
});

it("says in words that the server does not answer, and what was not done", () => {
  render(<FaultText error={new ApiError(0, "offline", "")} what="Not deleted" />);
  expect(screen.getByRole("alert").textContent).toBe("Not deleted. error.offline. error.offlineHint");
});

it("lets the server say everything else", () => {
  render(<FaultText error={new ApiError(409, "conflict", "It is held by another run.")} />);
  expect(screen.getByRole("alert").textContent).toBe("It is held by another run.");
});

it("says it in Japanese by its code, or in the server's own Japanese, with the English where it says more", () => {
  document.documentElement.lang = "ja";
  const said = (error: Error) => {
    cleanup();
    render(<FaultText error={error} />);
    return screen.getByRole("alert").textContent;
  };
  expect(said(new ApiError(409, "conflict", "Held by run 7."))).toBe("競合しました。Held by run 7.");
  expect(said(new ApiError(422, "threshold", "Column 3.", null, "3文字目。"))).toBe("3文字目。");
  expect(said(new ApiError(418, "teapot", "It is a teapot."))).toBe("It is a teapot.");
});

it("says nothing without an error, and a fact among others calmly", () => {
  render(
    <>
      <FaultText error={null} />
      <Problem calm>refused</Problem>
    </>,
  );
  expect(screen.queryByRole("alert")).toBeNull();
  expect(screen.getByText("refused")).toBeDefined();
});
