import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { ApiError } from "@/api/client";
import { FaultText, Problem } from "./problem";

vi.mock("react-i18next", () => ({ useTranslation: () => ({ t: (key: string) => key }) }));
afterEach(cleanup);

it("says in words that the server does not answer, and what was not done", () => {
  render(<FaultText error={new ApiError(0, "offline", "")} what="Not deleted" />);
  expect(screen.getByRole("alert").textContent).toBe("Not deleted. error.offline. error.offlineHint");
});

it("lets the server say everything else", () => {
  render(<FaultText error={new ApiError(409, "conflict", "It is held by another run.")} />);
  expect(screen.getByRole("alert").textContent).toBe("It is held by another run.");
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
