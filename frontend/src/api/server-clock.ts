/** The server's time as this browser knows it: a laptop's clock may be minutes off, samples carry the server's. */

let offsetMs = 0;
let uncertaintyMs = Number.POSITIVE_INFINITY;

/** Takes a reading of the server's clock; one with a shorter round trip holds more. */
export function setServerTime(serverMs: number, askedMs: number, answeredMs: number): void {
  const roundTrip = Math.max(0, answeredMs - askedMs);
  const next = serverMs - (askedMs + answeredMs) / 2;
  const jumped = Math.abs(next - offsetMs) > uncertaintyMs + roundTrip;
  if (roundTrip > uncertaintyMs && !jumped) return;
  offsetMs = next;
  uncertaintyMs = roundTrip;
}

/** Milliseconds since the epoch by the server's clock. */
export function serverNow(): number {
  return Math.round(Date.now() + offsetMs);
}
