import type { components } from "@/api/schema.gen";

type Schemas = components["schemas"];

export type EvidenceFile = Schemas["EvidenceFile"];
export type EvidenceKind = Schemas["EvidenceKind"];
export type LogPattern = Schemas["LogPatternOut"];
