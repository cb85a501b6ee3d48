/** Short names for the generated types of routes, silences, receivers and deliveries. */
import type { components } from "@/api/schema.gen";

type Schemas = components["schemas"];

export type Routing = Schemas["RoutingOut"];
export type Route = Schemas["RouteOut"];
export type RouteAnswer = Schemas["RouteAnswer"];
export type Matcher = Schemas["MatcherDocument"];
export type MatchOperator = Schemas["MatchOperatorName"];
export type Silence = Schemas["SilenceOut"];
export type SilenceInput = Schemas["SilenceIn"];
export type SilenceState = Schemas["SilenceState"];
export type Recurrence = Schemas["Recurrence"];
export type Receiver = Schemas["ReceiverOut"];
export type Integration = Schemas["IntegrationOut"];
export type TrialResult = Schemas["TrialResult"];
export type Delivery = Schemas["DeliveryOut"];
export type DeliveryDetail = Schemas["DeliveryDetail"];
export type DeliveryState = Schemas["DeliveryState"];
export type Attempt = Schemas["AttemptOut"];
