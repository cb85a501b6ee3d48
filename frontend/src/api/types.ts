/** Short names for the generated types. */
import type { components } from "@/api/schema.gen";

type Schemas = components["schemas"];

export type SignalCatalogue = Schemas["SignalCatalogue"];
export type SignalInfo = Schemas["SignalOut"];
export type ResourceInfo = Schemas["ResourceOut"];
export type GroupInfo = Schemas["GroupOut"];
export type SignalQuery = Schemas["SignalQuery"];
export type PanelInput = Schemas["PanelIn"];
export type HeadroomEntry = Schemas["HeadroomEntry"];
export type Target = Schemas["TargetOut"];
export type Collector = Schemas["CollectorOut"];
export type Note = Schemas["AnnotationOut"];
export type NoteInput = Schemas["AnnotationIn"];
export type NotePatch = Schemas["AnnotationPatch"];
export type Session = Schemas["SessionOut"];
