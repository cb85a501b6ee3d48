/** Passwords, browsers and waits in words. Pure. */

/** What the server asks of a new password. */
export const SHORTEST_PASSWORD = 12;

export type Strength = "short" | "weak" | "fair" | "good";

/** How long a password would stand. Length counts most; a few letters over and over count for little. */
export function passwordStrength(password: string): Strength {
  if ([...password].length < SHORTEST_PASSWORD) return "short";
  const different = new Set(password.toLowerCase()).size;
  if (different < 6 || /^(.{1,4})\1+$/.test(password) || isSequence(password)) return "weak";
  const kinds = [/[a-z]/, /[A-Z]/, /\d/, /[^a-zA-Z\d]/].filter((kind) => kind.test(password)).length;
  const length = [...password].length;
  return length >= 20 || (length >= 16 && kinds >= 2) || (length >= 14 && kinds >= 3) ? "good" : "fair";
}

/** Letters or digits in the order of the alphabet or of the keyboard. */
function isSequence(password: string): boolean {
  const rows =
    "abcdefghijklmnopqrstuvwxyz abcdefghijklmnopqrstuvwxyz 0123456789 01234567890123456789 1234567890 qwertyuiopasdfghjklzxcvbnm";
  const lower = password.toLowerCase();
  return rows.includes(lower) || rows.includes([...lower].reverse().join(""));
}

const BROWSERS = [
  ["Edg/", "Edge"],
  ["OPR/", "Opera"],
  ["Firefox/", "Firefox"],
  ["HeadlessChrome/", "Chrome"],
  ["Chrome/", "Chrome"],
  ["Version/", "Safari"],
] as const;
const SYSTEMS = [
  ["Android", "Android"],
  ["iPhone", "iPhone"],
  ["iPad", "iPad"],
  ["Windows", "Windows"],
  ["Mac OS X", "macOS"],
  ["Linux", "Linux"],
] as const;

/** `Firefox, Windows` out of a User-Agent header; the header itself where it is of no known browser. */
export function browserName(agent: string): string {
  const browser = BROWSERS.find(([mark]) => agent.includes(mark))?.[1];
  const system = SYSTEMS.find(([mark]) => agent.includes(mark))?.[1];
  return [browser, system].filter((part) => part !== undefined).join(", ") || agent.slice(0, 60);
}
