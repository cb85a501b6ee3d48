/** Short names for the generated types of findings. */
import type { components } from "@/api/schema.gen";

type Schemas = components["schemas"];

export type Finding = Schemas["FindingOut"];
export type Evidence = Schemas["EvidenceOut"];
export type Diagnosis = Schemas["DiagnosisOut"];
export type Headline = Schemas["HeadlineOut"];
export type Missing = Diagnosis["missing"][number];
export type Link = Evidence["link"];
export type Severity = Finding["severity"];
export type Certainty = Finding["certainty"];
export type MarkInput = Schemas["MarkIn"];
export type FindingsAgain = Schemas["FindingsAgain"];
/** In both languages. */
export type Text = Schemas["TextOut"];
