/** Short names for the generated types of users, sessions, tokens and the audit log. */
import type { components } from "@/api/schema.gen";

type Schemas = components["schemas"];

export type Role = Schemas["Role"];
export type Scope = Schemas["Scope"];
export type User = Schemas["UserOut"];
export type UserInput = Schemas["UserIn"];
export type UserPatch = Schemas["UserPatch"];
export type UserSession = Schemas["UserSessionOut"];
export type Token = Schemas["TokenOut"];
export type TokenInput = Schemas["TokenIn"];
export type AuditEntry = Schemas["AuditEntryOut"];
