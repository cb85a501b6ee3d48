/** Short names for the generated types of profiles. */
import type { components } from "@/api/schema.gen";

type Schemas = components["schemas"];

export type Profile = Schemas["ProfileOut"];
export type ProfileList = Schemas["ProfileList"];
export type ProfileView = Schemas["ProfileView"];
export type ProfileFunction = Schemas["ProfileFunction"];
export type ProfileStacks = Schemas["ProfileStacks"];
export type ProfileLabel = Schemas["ProfileLabel"];
export type ProfileOrder = Schemas["ProfileOrderOut"];
export type ProfileOrderInput = Schemas["ProfileOrderIn"];
export type ProfileKind = Schemas["ProfileKindName"];
