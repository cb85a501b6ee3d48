/** What of a run's profiles stands beside its routes. Pure. */
import type { Profile, ProfileFunction, ProfileView } from "@/api/profiles/types";

const MOST_FILES = 8;
const MOST_SHOWN = 8;
/** Keys under which applications say which route a stack belongs to. */
const ROUTE_KEYS: ReadonlySet<string> = new Set(["route", "http.route", "http_route", "endpoint", "handler", "path"]);

/** CPU profiles that can be read as one. */
export function cpuFiles(profiles: readonly Profile[]): readonly string[] {
  return profiles
    .filter(({ kind }) => kind === "cpu")
    .map(({ id }) => id)
    .slice(0, MOST_FILES);
}

/** Functions by what they took themselves. */
export function functionRows(view: ProfileView): readonly ProfileFunction[] {
  return view.functions
    .filter(({ flat }) => flat > 0)
    .toSorted((a, b) => b.flat - a.flat || b.cum - a.cum)
    .slice(0, MOST_SHOWN);
}

/** The processor's time by route, where the application labels its stacks. */
export function routeLabels(view: ProfileView): readonly { readonly text: string; readonly share: number }[] {
  const found = view.labels.find(({ key }) => ROUTE_KEYS.has(key));
  if (found === undefined || view.total <= 0) return [];
  return found.values
    .toSorted((a, b) => b.value - a.value)
    .slice(0, MOST_SHOWN)
    .map(({ text, value }) => ({ text, share: value / view.total }));
}
