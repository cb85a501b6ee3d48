import { type CompleteStrategy, newCompleteStrategy, type PrometheusClient } from "@prometheus-io/codemirror-promql";
import type { QueryClient } from "@tanstack/react-query";
import { labelNamesQuery, labelValuesQuery, metadataQuery } from "@/api/explore/queries";
import { matching } from "./metrics";

/** Of metrics, at a time: more cost the time between two keys. */
const MOST_OFFERED = 200;

/** What the editor completes with, by way of the page's cache: each list is asked for once a minute at most. */
export function promqlClient(cache: QueryClient): PrometheusClient {
  const none = () => [];
  const selector = (metric?: string) => (metric === "" ? undefined : metric);
  return {
    metricNames: (typed = "") =>
      cache
        .fetchQuery(labelValuesQuery("__name__"))
        .then((names) => matching(names, undefined, typed).slice(0, MOST_OFFERED))
        .catch(none),
    metricMetadata: () => cache.fetchQuery(metadataQuery).catch(() => ({})),
    labelNames: (metric) => cache.fetchQuery(labelNamesQuery(selector(metric))).catch(none),
    labelValues: (label, metric) => cache.fetchQuery(labelValuesQuery(label, selector(metric))).catch(none),
    series: () => Promise.resolve([]),
    flags: () => Promise.resolve({}),
  };
}

/** Asks again with each key, since only some of the metrics are offered. */
export function completion(names: PrometheusClient): CompleteStrategy {
  const whole = newCompleteStrategy({ remote: names });
  return {
    promQL: async (context) => {
      const found = await whole.promQL(context);
      if (found === null) return null;
      const { validFor: _, ...offered } = found;
      return offered;
    },
  };
}
