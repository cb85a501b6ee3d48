import { useCallback } from "react";
import { useTranslation } from "react-i18next";
import type { Scope } from "@/api/access/types";

/** Scopes from the least to the most. */
export const SCOPES: readonly Scope[] = ["samples:write", "read", "notes:write", "runs:write", "alerts:write", "admin"];

// The catalogue's keys may hold no colon.
const KEYS = {
  "samples:write": "samples",
  read: "read",
  "notes:write": "notes",
  "runs:write": "runs",
  "alerts:write": "alerts",
  admin: "admin",
} as const satisfies Readonly<Record<Scope, string>>;

/** What a scope is called, and what it allows. */
export function useScopeWords() {
  const { t } = useTranslation();
  return useCallback(
    (scope: Scope) => ({ name: t(`users.scope_${KEYS[scope]}`), hint: t(`users.scopeHint_${KEYS[scope]}`) }),
    [t],
  );
}
