/** Short names for the generated types of the pool advisor. */
import type { components } from "@/api/schema.gen";

type Schemas = components["schemas"];

export type PoolAdvice = Schemas["PoolAdviceOut"];
export type PoolGroup = Schemas["PoolGroupOut"];
export type PoolMember = Schemas["PoolOut"];
export type PoolSetting = Schemas["PoolSettingOut"];
export type PoolNote = Schemas["PoolNoteOut"];
export type PoolServer = Schemas["PoolServerOut"];
