import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { useKeys } from "./use-keys";

afterEach(cleanup);

function Page({ press }: { press: (key: string) => void }) {
  useKeys((event) => press(event.key));
  return (
    <>
      <input aria-label="text" />
      <input aria-label="tick" type="checkbox" />
      <textarea aria-label="words" />
      <select aria-label="choice" />
    </>
  );
}

it("hears keys where nothing is written, a box that is ticked among them", () => {
  const press = vi.fn();
  render(<Page press={press} />);
  fireEvent.keyDown(document.body, { key: "g" });
  fireEvent.keyDown(screen.getByLabelText("tick"), { key: "l" });
  expect(press.mock.calls).toEqual([["g"], ["l"]]);
});

it.each(["text", "words", "choice"])("leaves keys to a field of %s", (field) => {
  const press = vi.fn();
  render(<Page press={press} />);
  fireEvent.keyDown(screen.getByLabelText(field), { key: "g" });
  expect(press).not.toHaveBeenCalled();
});

it.each(["ctrlKey", "altKey", "metaKey"])("leaves keys that are held with %s to the browser", (held) => {
  const press = vi.fn();
  render(<Page press={press} />);
  fireEvent.keyDown(document.body, { key: "g", [held]: true });
  expect(press).not.toHaveBeenCalled();
});
