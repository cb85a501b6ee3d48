import type { ComponentType } from "react";
import { Navigate, useSearchParams } from "react-router";
import { later } from "@/app/later";
import { LivePage } from "@/features/live/live-page";
import type { IconName } from "@/ui/icon";

export interface Page {
  /** Names the page in the catalogues: `nav.<id>`. */
  readonly id: "live" | "explore" | "runs" | "alerts" | "targets" | "access";
  readonly path: string;
  readonly icon: IconName;
  /** Second key of the shortcut that begins with G. */
  readonly key: string;
  /** Whether the header shows the time range. */
  readonly timed: boolean;
  readonly element: ComponentType;
}

export interface SubPage {
  /** Pages that stand on their own have one, which names them in the catalogues, `nav.<id>`; the palette lists them. */
  readonly id?:
    | "sweep"
    | "trend"
    | "meeting"
    | "alertHistory"
    | "alertRules"
    | "routes"
    | "silences"
    | "receivers"
    | "deliveries"
    | "tokens"
    | "audit"
    | "account"
    | "timeouts"
    | "pools"
    | "store"
    | "connect";
  readonly path: string;
  readonly element: ComponentType;
  /** Of use to administrators alone; the palette hides it from others. */
  readonly guarded?: boolean;
}

// Pages that are read after a test are loaded when they are opened: the live page must not wait for them.
const RunsPage = later(async () => (await import("@/features/runs/list/runs-page")).RunsPage);
const RunPage = later(async () => (await import("@/features/runs/page/run-page")).RunPage);
const ProfilesPage = later(async () => (await import("@/features/runs/profiles/profiles-page")).ProfilesPage);
const ComparePage = later(async () => (await import("@/features/compare/side-by-side/compare-page")).ComparePage);
const SweepPage = later(async () => (await import("@/features/compare/scenario/sweep-page")).SweepPage);
const TrendPage = later(async () => (await import("@/features/compare/scenario/trend-page")).TrendPage);
// The meeting shows parts of the run's page: features do not know each other, the application does.
const MeetingPage = later(async () => {
  const [{ MeetingPage }, { ReviewSection: Review }, { SavedReview }, { HeadroomReached: Limits }] = await Promise.all([
    import("@/features/meeting/meeting-page"),
    import("@/features/runs/review/review-section"),
    import("@/features/runs/review/review-printed"),
    import("@/features/runs/results/headroom-reached"),
  ]);
  return () => <MeetingPage parts={{ Review, SavedReview, Limits }} />;
});
const AlertsPage = later(async () => (await import("@/features/alerts/list/alerts-page")).AlertsPage);
const AlertPage = later(async () => (await import("@/features/alerts/page/alert-page")).AlertPage);
const HistoryPage = later(async () => (await import("@/features/alerts/history/history-page")).HistoryPage);
const RulesPage = later(async () => (await import("@/features/alerts/rules/rules-page")).RulesPage);
const RoutesPage = later(async () => (await import("@/features/notify/routes/routes-page")).RoutesPage);
const SilencesPage = later(async () => (await import("@/features/notify/silences/silences-page")).SilencesPage);
const ReceiversPage = later(async () => (await import("@/features/notify/receivers/receivers-page")).ReceiversPage);
const DeliveriesPage = later(async () => (await import("@/features/notify/deliveries/deliveries-page")).DeliveriesPage);
const ExplorePage = later(async () => (await import("@/features/explore/explore-page")).ExplorePage);
const TargetsPage = later(async () => (await import("@/features/targets/targets-page")).TargetsPage);
const ConnectPage = later(async () => (await import("@/features/connect/connect-page")).ConnectPage);
const UsersPage = later(async () => (await import("@/features/access/users/users-page")).UsersPage);
const TokensPage = later(async () => (await import("@/features/access/tokens/tokens-page")).TokensPage);
const AuditPage = later(async () => (await import("@/features/access/audit/audit-page")).AuditPage);
const AccountPage = later(async () => (await import("@/features/access/account-page")).AccountPage);

/** Pages that became a section of the targets; of the pools of a run, of that run. */
const toSection = (id: string) => () => {
  const run = useSearchParams()[0].get("run");
  return <Navigate replace to={`${run === null ? "/targets" : `/runs/${encodeURIComponent(run)}`}#${id}`} />;
};

/** All pages in the order of the navigation. A new page is a feature folder, a line here and a name in the catalogues. */
export const PAGES: readonly Page[] = [
  { id: "live", path: "/", icon: "pulse", key: "l", timed: true, element: LivePage },
  { id: "explore", path: "/explore", icon: "trend", key: "e", timed: true, element: ExplorePage },
  { id: "runs", path: "/runs", icon: "play", key: "r", timed: false, element: RunsPage },
  { id: "alerts", path: "/alerts", icon: "bell", key: "a", timed: false, element: AlertsPage },
  { id: "targets", path: "/targets", icon: "target", key: "t", timed: false, element: TargetsPage },
  { id: "access", path: "/access", icon: "key", key: "u", timed: false, element: UsersPage },
];

/** Pages that others lead to. */
export const SUB_PAGES: readonly SubPage[] = [
  { path: "/runs/compare", element: ComparePage },
  { id: "sweep", path: "/runs/sweep", element: SweepPage },
  { id: "trend", path: "/runs/trend", element: TrendPage },
  { id: "meeting", path: "/runs/meeting", element: MeetingPage },
  { path: "/runs/actions", element: () => <Navigate replace to="/runs?actions=open" /> },
  { path: "/runs/:runId", element: RunPage },
  { path: "/runs/:runId/profiles", element: ProfilesPage },
  { id: "alertHistory", path: "/alerts/history", element: HistoryPage },
  { id: "alertRules", path: "/alerts/rules", element: RulesPage },
  { id: "routes", path: "/alerts/routes", element: RoutesPage },
  { id: "silences", path: "/alerts/silences", element: SilencesPage },
  { id: "receivers", path: "/alerts/receivers", element: ReceiversPage },
  { id: "deliveries", path: "/alerts/deliveries", element: DeliveriesPage },
  { path: "/alerts/:alertId", element: AlertPage },
  { id: "timeouts", path: "/timeouts", element: toSection("timeouts") },
  { id: "pools", path: "/pools", element: toSection("pools") },
  { id: "store", path: "/store", element: toSection("store") },
  { id: "connect", path: "/connect", element: ConnectPage, guarded: true },
  { id: "tokens", path: "/access/tokens", element: TokensPage, guarded: true },
  { id: "audit", path: "/access/audit", element: AuditPage, guarded: true },
  { id: "account", path: "/access/account", element: AccountPage },
];
