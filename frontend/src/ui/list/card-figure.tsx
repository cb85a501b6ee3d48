import type { ReactNode } from "react";

/** One figure of a card, with its name above it. */
export function CardFigure({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
