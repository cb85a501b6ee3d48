/** Short names for the generated types of the store's figures. */
import type { components } from "@/api/schema.gen";

type Schemas = components["schemas"];

export type StoreFigures = Schemas["StoreOut"];
