import { HeadroomBar } from "@/charts/bars/headroom-bar";
import { Sparkline } from "@/charts/bars/sparkline";
import { TimeSeriesChart } from "@/charts/plot/time-series-chart";
import type { Range } from "@/lib/time/time";
import type { Frame } from "./workload";

const QUIET: never[] = [];
const empty = (frame: Frame) => ({ startMs: frame.answer.startMs, stepMs: 1000, count: 0 });

/** Every look of a chart on one page, to be seen in both schemes and both languages. */
export function Showcase({ frame, locale }: { frame: Frame; locale: "en" | "ja" }) {
  const ja = locale === "ja";
  const { answer, range, nowMs, bands, notes } = frame;
  const of = (index: number) =>
    (answer.results[index]?.series ?? []).map((one) => ({ id: one.name, name: one.name, values: one.values }));
  const common = { grid: answer, range, nowMs, staleAfterMs: 10_000, height: 200 };
  const log = (event: unknown) => window.bench.events.push(event);
  const act = {
    onZoom: (chosen: Range) => log({ zoom: chosen }),
    onInstant: (timeMs: number) => log({ instant: timeMs }),
    onZoomOut: () => log("out"),
    onNote: (id: string) => log({ note: id }),
  };
  const spark = of(4)[0]?.values ?? [];
  return (
    <div className="grid">
      <TimeSeriesChart
        title={ja ? "リクエスト数" : "Requests as a funnel"}
        unit="per_second"
        series={of(0)}
        {...common}
        {...{ bands, notes }}
        {...act}
      />
      <TimeSeriesChart
        title={ja ? "接続数" : "Connections by holder"}
        unit="count"
        series={of(4).map((one) => ({ ...one, kind: "area" as const, stack: "all" }))}
        limits={[{ id: "max", label: "max_connections", value: 500 }]}
        {...common}
        {...act}
        legend="table"
      />
      <TimeSeriesChart
        title={ja ? "遅延" : "Wait time"}
        unit="seconds"
        series={[
          ...of(1)
            .slice(0, 2)
            .map((one) => ({ ...one, kind: "step" as const })),
          { id: "bound", name: ja ? "上限" : "timeout", values: spark.map(() => 0.1), kind: "limit" as const },
        ]}
        {...common}
        {...act}
      />
      <TimeSeriesChart
        title="CPU"
        unit="ratio"
        series={of(2)}
        limits={[{ id: "quota", label: "quota", value: 4 }]}
        {...common}
        nowMs={nowMs + 25_000}
        partial={ja ? "2件中1件のみ" : "1 of 2 targets"}
      />
      <TimeSeriesChart
        title={ja ? "読み込み" : "Loading"}
        unit="bytes"
        {...common}
        series={QUIET}
        grid={empty(frame)}
        loading
      />
      <TimeSeriesChart
        title={ja ? "データなし" : "Empty"}
        unit="bytes"
        {...common}
        series={QUIET}
        grid={empty(frame)}
        emptyHint={
          ja ? "mysql コレクターがこの値を送ります" : "The mysql collector would send this: add it to loadwatch.yml."
        }
      />
      <TimeSeriesChart
        title={ja ? "エラー" : "Error"}
        unit="bytes"
        {...common}
        series={QUIET}
        grid={empty(frame)}
        error="expression timed out after 10 s"
      />
      <TimeSeriesChart
        title={ja ? "系列が多い" : "Many series"}
        unit="bytes"
        {...common}
        series={Array.from({ length: 10 }, (_, place) => ({
          id: `s${place}`,
          name: `10.0.0.${place + 1}:3306`,
          values: spark.map((value) => (value === null ? null : value * 1e6 * (1 + place / 4))),
        }))}
      />
      <div style={{ color: "var(--lw-text)" }}>
        {(["ok", "near", "exhausted"] as const).map((state, place) => (
          <p key={state}>
            <HeadroomBar ratio={[0.42, 0.87, 1][place] ?? null} state={state} label={state} />
            <Sparkline
              values={spark.slice(-60).map((value) => (value === null ? null : value / 140))}
              bound={1}
              label={`${state}, five minutes`}
            />
          </p>
        ))}
      </div>
    </div>
  );
}
