/** Which series a legend shows. Pure. */

/**
 * The hidden series after a click on one. A plain click shows it alone, and all again when it was alone already; with
 * Shift or Ctrl it hides or shows that one. The last visible series cannot be hidden: all return instead.
 */
export function nextHidden(
  ids: readonly string[],
  hidden: ReadonlySet<string>,
  clicked: string,
  toggle: boolean,
): ReadonlySet<string> {
  if (toggle) {
    const next = new Set(hidden);
    if (!next.delete(clicked)) next.add(clicked);
    return ids.every((id) => next.has(id)) ? new Set() : next;
  }
  const alone = !hidden.has(clicked) && ids.every((id) => id === clicked || hidden.has(id));
  return alone ? new Set() : new Set(ids.filter((id) => id !== clicked));
}
