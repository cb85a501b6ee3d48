/** Short names for the generated types of the page Connect. */
import type { components } from "@/api/schema.gen";

type Schemas = components["schemas"];

export type Connections = Schemas["ConnectOut"];
export type Listener = Schemas["ListenerOut"];
export type Seeming = Schemas["SeemingOut"];
export type ConnectAnswer = Schemas["ConnectCheckOut"];
export type CheckedCollector = Schemas["CheckedCollectorOut"];
export type ConnectRequest = Schemas["ConnectIn"];
