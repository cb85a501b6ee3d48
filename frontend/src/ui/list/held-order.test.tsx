import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { inHeldOrder, useHeldOrder } from "./held-order";

afterEach(cleanup);

function List({ order, question = "" }: { order: readonly string[]; question?: string | null }) {
  const [held, hold] = useHeldOrder(order, question);
  if (order.length === 0) return null;
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

it("another question is another list: it is held from the next look on, once it is answered", () => {
  const { rerender } = render(<List order={["a", "b"]} question="all" />);
  const list = screen.getByRole("region", { name: "list" });
  const shows = (text: string) => expect(screen.getAllByRole("button")[0]?.textContent).toBe(text);

  fireEvent.pointerEnter(list);
  rerender(<List order={["b", "a"]} question="all" />);
  shows("a b");
  rerender(<List order={["b", "a"]} question={null} />);
  fireEvent.pointerMove(list);
  rerender(<List order={["c", "b"]} question="some" />);
  shows("c b");
  fireEvent.pointerMove(list);
  rerender(<List order={["b", "c"]} question="some" />);
  shows("c b");
});

it("a list that is taken away under the pointer is not held when it comes back", () => {
  const { rerender } = render(<List order={["a", "b"]} />);
  fireEvent.pointerEnter(screen.getByRole("region", { name: "list" }));
  rerender(<List order={[]} />);
  rerender(<List order={["b", "a"]} />);
  expect(screen.getAllByRole("button")[0]?.textContent).toBe("b a");
});

it("what came since stands at the end, and what is gone leaves no gap", () => {
  const inOrder = (held: readonly string[] | null) => inHeldOrder(["d", "c", "a"], held, (name) => name).join(" ");
  expect(inOrder(null)).toBe("d c a");
  expect(inOrder(["a", "b", "c"])).toBe("a c d");
});
