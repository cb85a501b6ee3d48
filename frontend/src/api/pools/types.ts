/** Short names for the generated types of the advice on connection pools. */
import type { components } from "@/api/schema.gen";

type Schemas = components["schemas"];

export type PoolAdvice = Schemas["PoolAdviceOut"];
export type PoolGroup = Schemas["PoolGroupOut"];
export type PoolSetting = Schemas["PoolSettingOut"];
export type PoolNote = Schemas["PoolNoteOut"];
