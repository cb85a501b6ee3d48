import { useQuery } from "@tanstack/react-query";
import { type Language, querySignals, signalsQuery } from "@/api/queries";
import { serverNow } from "@/api/server-clock";
import { answerFromWire } from "@/lib/series/series";
import { resolveRange } from "@/lib/time/range";
import { HOUR } from "@/lib/time/time";
import { useView } from "@/lib/view/context";
import { type PanelGroup, panelsOf } from "@/panels/panel-catalogue";
import { hasValues } from "@/panels/panel-series";

/** Of a long range: what sends at all does so at its end, too, and all panels of AWS over a week are much to ask. */
const LOOKED_AT_MS = 6 * HOUR;

/** The groups that the live page shows: optional ones only if they have data in its range; asked while `wanted`. */
export function useShownGroups(language: Language, wanted: boolean): readonly PanelGroup[] {
  const { range, pausedAt } = useView();
  const catalogue = useQuery(signalsQuery(language));
  const groups = catalogue.data ? panelsOf(catalogue.data) : [];
  const optional = groups.filter(({ group }) => group.optional === true);
  const withData = useQuery({
    queryKey: ["signals", "with-data", range, pausedAt],
    queryFn: async ({ signal }) => {
      const asked = optional.flatMap(({ panels }) => panels.flatMap((panel) => panel.signals));
      const signals = asked.map(({ id }) => id);
      const { start, end } = resolveRange(range, pausedAt ?? serverNow());
      const startMs = Math.max(0, start, end - LOOKED_AT_MS);
      const body = { signals, start_ms: startMs, end_ms: end, max_points: 2, filters: {}, lang: language };
      const answer = answerFromWire(await querySignals(body, signal));
      const found = answer.results.filter((one) => hasValues({ signals: asked }, { ...answer, results: [one] }));
      return new Set(found.map((one) => one.signal));
    },
    enabled: wanted && optional.length > 0,
    staleTime: 60_000,
    retry: false,
  });
  return groups.filter(
    ({ group, panels }) =>
      group.optional !== true || panels.some((panel) => panel.signals.some(({ id }) => withData.data?.has(id))),
  );
}
