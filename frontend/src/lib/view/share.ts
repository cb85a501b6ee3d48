/** What is left of a limit: whole percent, tenths below ten. Below zero nothing is left. */
export function formatShare(ratio: number): string {
  const percent = Math.max(0, ratio) * 100;
  // Rounded down: "10%" must not be shown when less is left.
  return percent >= 10
    ? `${Math.floor(percent)}%`
    : `${(Math.floor(percent * 10) / 10).toFixed(percent === 0 ? 0 : 1)}%`;
}
