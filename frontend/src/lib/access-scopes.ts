/** What the one who is signed in may do, for hiding and for explaining. The server decides; this only says it early. */
import { useQuery } from "@tanstack/react-query";
import { sessionQuery } from "@/api/queries";
import type { components } from "@/api/schema.gen";

export type Scope = components["schemas"]["Scope"];
type Session = components["schemas"]["SessionOut"];

/** Whether the scope is theirs; nobody may anything before the session is read. */
export function mayOf(session: Session | undefined, scope: Scope): boolean {
  return session?.principal?.scopes.includes(scope) ?? false;
}

/** `useMay("alerts:write")`: whether to show what needs this scope. */
export function useMay(scope: Scope): boolean {
  return mayOf(useQuery({ ...sessionQuery, retry: false }).data, scope);
}
