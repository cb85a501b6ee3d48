/** Short names for the generated types of alerts and rules. */
import type { components } from "@/api/schema.gen";

type Schemas = components["schemas"];

export type Alert = Schemas["AlertOut"];
export type AlertState = Schemas["AlertState"];
export type Incident = Schemas["IncidentOut"];
export type RunbookPart = Schemas["RunbookPart"];
export type AlertList = Schemas["AlertList"];
export type AlertDetail = Schemas["AlertDetail"];
export type AlertSeries = Schemas["AlertSeries"];
export type AlertTransition = Schemas["TransitionOut"];
export type ResolvedReason = Schemas["ResolvedReason"];
export type Rule = Schemas["RuleOut"];
export type RuleGroup = Schemas["RuleGroupOut"];
export type RuleFile = Schemas["RuleFileOut"];
export type RuleList = Schemas["RuleList"];
export type RuleState = Schemas["RuleState"];
export type Matcher = Schemas["MatcherDocument"];
export type MatchOperator = Schemas["MatchOperatorName"];
export type SilenceInput = Schemas["SilenceIn"];
export type SilencePreview = Schemas["SilencePreview"];
