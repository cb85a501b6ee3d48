/** Short names for the generated types of timeouts. */
import type { components } from "@/api/schema.gen";

type Schemas = components["schemas"];

export type TimeoutLadder = Schemas["LadderOut"];
export type TimeoutRung = Schemas["RungOut"];
export type TimeoutCheck = Schemas["CheckOut"];
