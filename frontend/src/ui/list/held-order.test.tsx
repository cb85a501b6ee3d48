import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { useHeldOrder } from "./use-headroom";

afterEach(cleanup);

function List({ order }: { order: readonly string[] }) {
  const { held, ...hold } = useHeldOrder(order);
  return (
    <section {...hold} aria-label="list">
      <button type="button">{(held ?? order).join(" ")}</button>
      <button type="button">other</button>
    </section>
  );
}

it("the order is the one that somebody began to look at, until pointer and focus are both elsewhere", () => {
  const { rerender } = render(<List order={["a", "b"]} />);
  const list = screen.getByRole("region", { name: "list" });
  const [first, second] = screen.getAllByRole("button");
  if (first === undefined || second === undefined) throw new Error("two buttons");
  const shows = (text: string) => expect(first.textContent).toBe(text);

  fireEvent.pointerEnter(list);
  rerender(<List order={["b", "a"]} />);
  shows("a b");
  act(() => first.focus());
  fireEvent.pointerLeave(list);
  shows("a b");
  act(() => second.focus());
  shows("a b");
  act(() => second.blur());
  shows("b a");

  act(() => first.focus());
  rerender(<List order={["a", "b"]} />);
  shows("b a");
  fireEvent.pointerEnter(list);
  act(() => first.blur());
  shows("b a");
  fireEvent.pointerLeave(list);
  shows("a b");
});
