import { cleanup, render } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { usePrintScheme } from "./use-print-scheme";

afterEach(cleanup);

function Page() {
  usePrintScheme();
  return null;
}
const scheme = () => document.documentElement.getAttribute("data-mantine-color-scheme");

it("prints a dark page light, and gives its colours back", () => {
  document.documentElement.setAttribute("data-mantine-color-scheme", "dark");
  render(<Page />);
  window.dispatchEvent(new Event("beforeprint"));
  expect(scheme()).toBe("light");
  window.dispatchEvent(new Event("afterprint"));
  expect(scheme()).toBe("dark");
});
