/** Short names for the generated types of comparison and meetings. */
import type { components } from "@/api/schema.gen";

type Schemas = components["schemas"];

export type Align = Schemas["Align"];
export type MetricInfo = Schemas["MetricInfo"];
export type Comparison = Schemas["CompareOut"];
export type CompareGroup = Schemas["CompareGroup"];
export type CompareRow = Schemas["CompareRow"];
export type CompareCell = Schemas["CompareCell"];
export type CompareSeries = Schemas["CompareSeries"];
export type CompareEndpoint = Schemas["CompareEndpoint"];
export type Opinion = CompareCell["opinion"];
export type Sweep = Schemas["SweepOut"];
export type SweepPoint = Schemas["SweepPoint"];
export type Trend = Schemas["TrendOut"];
export type TrendPoint = Schemas["TrendPoint"];
export type ChangePoint = Schemas["ChangePoint"];
export type Capacity = Schemas["ForecastOut"];
export type CapacityResource = Schemas["ForecastResource"];
export type CapacityRun = Schemas["ForecastRun"];
export type CapacityLaw = NonNullable<CapacityResource["law"]>;
export type PastForecast = Schemas["PastForecast"];
export type ForecastScore = PastForecast["scores"][number];
export type Meeting = Schemas["Meeting"];
