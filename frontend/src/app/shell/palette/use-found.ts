import type { SpotlightActionGroupData } from "@mantine/spotlight";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { useNavigate } from "react-router";
import { foundAlertsQuery } from "@/api/alerts/queries";
import { targetsQuery } from "@/api/queries";
import { foundRunsQuery } from "@/api/runs/queries";
import { labelText } from "@/features/alerts/model/text";
import { runTitle } from "@/lib/run-text";
import { formatInstant } from "@/lib/time/time";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { encodeView, withFilter } from "@/lib/view/state";

/** One letter finds everything. */
const LEAST_LETTERS = 2;
const MOST_TARGETS = 6;

/**
 * Runs, alerts and targets by what was typed last, a moment after it. `asked` was sent to the server, which also finds
 * what the names do not show; so it is among each one's keywords.
 */
export function useFound(asked: string, opened: boolean): SpotlightActionGroupData[] {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const view = useView();
  const locale = useLocale();
  const text = asked.trim();
  const asking = { enabled: opened && text.length >= LEAST_LETTERS, retry: false, placeholderData: keepPreviousData };
  const runs = useQuery({ ...foundRunsQuery(text), ...asking });
  const alerts = useQuery({ ...foundAlertsQuery(text), ...asking });
  const targets = useQuery({ ...targetsQuery, ...asking, staleTime: 10_000 });
  if (!asking.enabled) return [];
  const matches = targets.data?.targets.filter(({ job, instance }) =>
    `${job} ${instance}`.toLowerCase().includes(text.toLowerCase()),
  );
  return [
    {
      group: t("nav.runs"),
      actions: (runs.data?.runs ?? []).map((run) => ({
        id: `run-${run.id}`,
        label: runTitle(run),
        description: [
          run.verdict === null ? t(`runs.state_${run.state}`) : t(`runs.verdict_${run.verdict}`),
          formatInstant(run.started_ms, view.zone, locale),
        ].join(" · "),
        keywords: [text],
        onClick: () => void navigate(`/runs/${run.id}`),
      })),
    },
    {
      group: t("nav.alerts"),
      actions: (alerts.data?.alerts ?? []).map((alert) => ({
        id: `alert-${alert.id}`,
        label: alert.name,
        description: [t(`alerts.state_${alert.state}`), labelText(alert.labels)].filter(Boolean).join(" · "),
        keywords: [text],
        onClick: () => void navigate(`/alerts/${alert.id}`),
      })),
    },
    {
      group: t("nav.targets"),
      actions: (matches ?? []).slice(0, MOST_TARGETS).map(({ job, instance, collectors }) => ({
        id: `target-${job}-${instance}`,
        label: instance,
        description: [
          t("palette.target", { job }),
          ...collectors.map(({ collector }) => collector).filter((name) => name !== ""),
        ].join(" · "),
        keywords: [text],
        onClick: () => {
          const filters = withFilter(view.filters, "instance", [instance]);
          void navigate({ pathname: "/", search: encodeView({ ...view, filters }, new URLSearchParams()).toString() });
        },
      })),
    },
  ];
}
