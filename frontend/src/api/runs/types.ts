/** Short names for the generated types of runs. */
import type { components } from "@/api/schema.gen";
import type { FACTS } from "./facts.gen";

type Schemas = components["schemas"];
type TextFact = Extract<(typeof FACTS)[number], { readonly kind: "text" }>;

/** Facts that runs of a list can have alike. */
export type FilterFact = Exclude<TextFact, { readonly facet: "" }>["name"];

export type Run = Schemas["RunOut"];
export type RunLine = Schemas["RunSummary"];
export type RunState = Schemas["RunState"];
export type Verdict = Schemas["Verdict"];
export type RunSort = Schemas["RunSort"];
export type RunPatch = Schemas["RunPatch"];
export type RunFacets = Schemas["RunFacets"];
export type RunLink = NonNullable<Run["links"]>[number];
export type Figures = Schemas["FiguresOut"];
export type RunPercentiles = Schemas["PercentilesOut"];
export type PercentileValue = Schemas["PercentileValue"];
export type Endpoint = Schemas["EndpointOut"];
export type Latency = Schemas["LatencyOut"];
export type SteadyWindow = Schemas["SteadyWindow"];
export type KeyFigure = Schemas["KeyFigure"];
export type Threshold = Schemas["ThresholdOut"];
export type ThresholdState = Schemas["ThresholdState"];
export type Remark = Schemas["RemarkOut"];
export type Ramp = Schemas["RampOut"];
export type ResourceReached = Schemas["ResourceReached"];
export type Reconciliation = Schemas["ReconciliationOut"];
export type GeneratorCheck = Schemas["GeneratorCheck"];
export type Clock = Schemas["ClockOut"];
export type RunSeconds = Schemas["SecondsOut"];
export type ImportJob = Schemas["ImportJob"];
export type Deletion = Schemas["Deletion"];
export type ConfigurationChange = Schemas["Change"];
export type ConfigurationDifference = Schemas["ConfigurationDifference"];
export type Setting = Schemas["SettingOut"];
export type Snapshot = Schemas["SnapshotOut"];
export type Review = Schemas["ReviewOut"];
export type ReviewInput = Schemas["ReviewIn"];
export type ReviewVersion = Schemas["ReviewVersion"];
export type ReviewAction = Schemas["ReviewAction"];
export type ActionStanding = Schemas["ActionStanding"];
export type ActionScore = Schemas["ActionScore"];
export type ActionLine = Schemas["ActionLine"];
export type ActionState = Schemas["ActionState"];
export type ScoreState = Schemas["ScoreState"];
export type MeasuredImpact = Schemas["MeasuredImpact"];
export type Share = Schemas["ShareOut"];
export type Cost = Schemas["CostOut"];
export type CostRoute = Schemas["CostRoute"];
export type CostShare = Schemas["CostShare"];
export type CpuRoute = Schemas["CpuRoute"];
export type CostStatement = Schemas["CostStatement"];
export type CostEstimate = Schemas["CostEstimate"];
