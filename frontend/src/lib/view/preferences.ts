/** Small things that this browser remembers for its user. Storage may be forbidden; then nothing is remembered. */

const PREFIX = "loadwatch.";

export function readPreference(name: string): string | null {
  try {
    return globalThis.localStorage.getItem(PREFIX + name);
  } catch {
    return null;
  }
}

export function writePreference(name: string, value: string): void {
  try {
    globalThis.localStorage.setItem(PREFIX + name, value);
  } catch {
    // Private windows and full quotas: the preference lasts as long as the page.
  }
}
