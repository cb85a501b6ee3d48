/**
 * Spreads the drawing of many charts over several tasks, so that no single one blocks the page. One job per chart:
 * a newer job replaces the one that waits.
 */

const SLICE_MS = 8;
const waiting = new Map<object, () => void>();
const unsettled = new Map<object, () => void>();
let scheduled = false;
let working = false;

const channel = typeof MessageChannel === "undefined" ? null : new MessageChannel();
if (channel !== null) {
  channel.port1.onmessage = runSlice;
  // Node keeps a process alive for an open port; browsers have no such method.
  (channel.port1 as { unref?: () => void }).unref?.();
}

// A tab in the background draws nothing; it catches up with the newest jobs when it is shown.
if (typeof document !== "undefined") {
  document.addEventListener("visibilitychange", () => {
    if (waiting.size > 0) schedule();
  });
}

function schedule(): void {
  if (scheduled || (typeof document !== "undefined" && document.hidden)) return;
  scheduled = true;
  if (channel === null) setTimeout(runSlice, 0);
  else channel.port2.postMessage(null);
}

function runSlice(): void {
  scheduled = false;
  const began = performance.now();
  for (const [owner, job] of waiting) {
    waiting.delete(owner);
    try {
      run(job);
    } catch (error) {
      // One broken chart must not stop the others; the page's error handler still hears of it.
      reportError(error);
    }
    if (performance.now() - began > SLICE_MS) break;
  }
  if (waiting.size > 0) schedule();
}

function run(job: () => void): void {
  working = true;
  try {
    job();
  } finally {
    working = false;
    settle();
  }
}

function settle(): void {
  const draws = [...unsettled.values()];
  unsettled.clear();
  for (const draw of draws) draw();
}

/**
 * Draws once at the end of the present job, whatever asks for it meanwhile: one change of a live chart brings first
 * new data and then, by way of Recharts' store, a new scale. Outside a job: at the end of the present task.
 */
export function drawOnce(owner: object, draw: () => void): void {
  if (!working && unsettled.size === 0) queueMicrotask(settle);
  unsettled.set(owner, draw);
}

export function enqueueDraw(owner: object, job: () => void): void {
  waiting.set(owner, job);
  schedule();
}

export function cancelDraw(owner: object): void {
  waiting.delete(owner);
  unsettled.delete(owner);
}

/** Runs all that waits now: before printing or exporting. */
export function flushDraws(): void {
  const jobs = [...waiting.values()];
  waiting.clear();
  for (const job of jobs) run(job);
  settle();
}
