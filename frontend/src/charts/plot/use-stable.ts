import { useState } from "react";

/** The former object while the new one says the same, so that a caller may pass literals without costing a render. */
export function useStable<T>(value: T): T {
  const [held, setHeld] = useState(value);
  if (held === value || JSON.stringify(held) === JSON.stringify(value)) return held;
  setHeld(value);
  return value;
}
