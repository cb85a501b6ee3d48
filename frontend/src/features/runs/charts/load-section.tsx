import { Button } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { Run } from "@/api/runs/types";
import { formatElapsed } from "@/lib/run-text";
import { NoteLane } from "@/panels/notes/note-lane";
import { LoadCharts } from "@/panels/run/load-charts";
import { Icon } from "@/ui/icon";
import { Section } from "@/ui/page/section";
import { SteadyBar } from "./steady-bar";
import type { RunChartsHandle } from "./use-run-charts";

/** Where no finding has a chart, these are first: in sight without scrolling on a screen of 720 pixels. */
const FIRST_HEIGHT = 170;

interface Props {
  readonly run: Run;
  readonly charts: RunChartsHandle;
  /** Stands right below the opening: charts before all that is said of them. */
  readonly first: boolean;
}

/** The load over the run, second by second, and which part of it the figures cover. */
export function LoadSection({ run, charts, first }: Props) {
  const { t } = useTranslation();
  const { span, edit, seconds, context, notes, handle } = charts;
  const chartsFirst = first && edit.draft === null;
  const bars = (
    <>
      {run.state !== "running" && run.requests !== null && (
        <SteadyBar run={run} edit={edit} lengthSeconds={span.lengthSeconds} />
      )}
      <NoteLane
        notes={notes.notes}
        range={span.range}
        onDraw={(start, end) => handle?.add(start, end)}
        onOpen={(note) => handle?.edit(note)}
      />
    </>
  );
  return (
    <Section
      id="charts"
      title={t("runs.page.nav_charts")}
      aside={
        span.zoom !== null && (
          <Button
            size="compact-xs"
            variant="default"
            leftSection={<Icon name="zoomOut" size={12} />}
            onClick={context.onZoomOut}
          >
            {t("runs.page.zoomed", { from: formatElapsed(span.zoom.from), to: formatElapsed(span.zoom.to) })}
          </Button>
        )
      }
    >
      {!chartsFirst && bars}
      <LoadCharts run={run} seconds={seconds} context={context} {...(first && { height: FIRST_HEIGHT })} />
      {chartsFirst && bars}
    </Section>
  );
}
