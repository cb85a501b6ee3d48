/** Fetchers and query options of users, sessions, tokens and the audit log, one per endpoint. */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "@/api/client";
import type { TokenInput, UserInput, UserPatch } from "./types";

export function signInWithPassword(name: string, password: string) {
  return unwrap(api.POST("/api/session/password", { body: { name, password } }));
}

export function setUpFirstUser(secret: string, name: string, password: string) {
  return unwrap(api.POST("/api/setup", { body: { secret, name, password } }));
}

export function changeOwnPassword(current: string, next: string) {
  return unwrap(api.PUT("/api/session/password", { body: { current, new: next } }));
}

export const ownSessionsQuery = queryOptions({
  queryKey: ["access", "own-sessions"],
  queryFn: ({ signal }) => unwrap(api.GET("/api/session/sessions", { signal })),
});

export function endOwnSession(id: string) {
  return unwrap(api.DELETE("/api/session/sessions/{session_id}", { params: { path: { session_id: id } } }));
}

export const usersQuery = queryOptions({
  queryKey: ["access", "users"],
  queryFn: ({ signal }) => unwrap(api.GET("/api/users", { signal })),
});

export function addUser(body: UserInput) {
  return unwrap(api.POST("/api/users", { body }));
}

export function changeUser(id: number, body: UserPatch) {
  return unwrap(api.PATCH("/api/users/{user_id}", { params: { path: { user_id: id } }, body }));
}

export function deleteUser(id: number) {
  return unwrap(api.DELETE("/api/users/{user_id}", { params: { path: { user_id: id } } }));
}

export function userSessionsQuery(id: number) {
  return queryOptions({
    queryKey: ["access", "user-sessions", id],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/users/{user_id}/sessions", { params: { path: { user_id: id } }, signal })),
  });
}

export function endUserSession(user: number, session: string) {
  const path = { user_id: user, session_id: session };
  return unwrap(api.DELETE("/api/users/{user_id}/sessions/{session_id}", { params: { path } }));
}

export const tokensQuery = queryOptions({
  queryKey: ["access", "tokens"],
  queryFn: ({ signal }) => unwrap(api.GET("/api/tokens", { signal })),
});

export function createToken(body: TokenInput) {
  return unwrap(api.POST("/api/tokens", { body }));
}

export function revokeToken(id: string) {
  return unwrap(api.DELETE("/api/tokens/{token_id}", { params: { path: { token_id: id } } }));
}

export interface AuditAsk {
  readonly actor: string;
  readonly action: string;
  readonly startMs: number | null;
}

export function auditQuery(ask: AuditAsk) {
  return infiniteQueryOptions({
    queryKey: ["access", "audit", ask],
    queryFn: ({ pageParam, signal }) => {
      const query = {
        ...{ actor: ask.actor, action: ask.action, limit: 100 },
        ...(ask.startMs !== null && { start_ms: ask.startMs }),
        ...(pageParam !== null && { before: pageParam }),
      };
      return unwrap(api.GET("/api/audit", { params: { query }, signal }));
    },
    initialPageParam: null as number | null,
    getNextPageParam: (last) => last.next_before ?? undefined,
  });
}
