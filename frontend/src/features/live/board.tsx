import { useCallback, useMemo, useState } from "react";
import type { Run } from "@/api/runs/types";
import { serverNow } from "@/api/server-clock";
import { absoluteRange, widenRange } from "@/lib/time/range";
import type { Range } from "@/lib/time/time";
import { useView } from "@/lib/view/context";
import { useFeedState } from "@/panels/feed/feed-context";
import { type NotesHandle, NotesLayer } from "@/panels/notes/notes-layer";
import { useNotes } from "@/panels/notes/use-notes";
import type { PanelGroup } from "@/panels/panel-catalogue";
import { useThresholdLines } from "./cockpit/use-threshold-lines";
import { FullPanel } from "./full-panel";
import { GroupSection, type PanelContext } from "./group-section";
import { Toolbar } from "./toolbar";
import { usePanelAnchor } from "./use-panel-anchor";
import { useRunBands } from "./use-run-bands";
import { useWanted } from "./use-wanted";

interface Props {
  readonly groups: readonly PanelGroup[];
  readonly runs: readonly Run[];
  /** Nobody has connected an application yet. */
  readonly bare: boolean;
}

/** The charts of all groups, and what is common to them: annotations, zoom, the batched feed. */
export function Board({ groups, runs, bare }: Props) {
  const view = useView();
  const feed = useFeedState();
  const { notes, marks, error: notesError } = useNotes(feed.range);
  const [handle, setHandle] = useState<NotesHandle | null>(null);
  const bands = useRunBands(feed.range);
  const limits = useThresholdLines(runs);
  const wanted = useWanted(groups, view.folded, view.panel);
  usePanelAnchor(groups);

  const { setRange, undoRange, canUndo, change, range, pausedAt } = view;
  const onZoom = useCallback((next: Range) => setRange(absoluteRange(next.startMs, next.endMs)), [setRange]);
  const onZoomOut = useCallback(() => {
    if (canUndo) undoRange();
    else setRange(widenRange(range, 2, pausedAt ?? serverNow()));
  }, [canUndo, undoRange, setRange, range, pausedAt]);
  const onInstant = useCallback((timeMs: number) => handle?.add(timeMs, null), [handle]);
  const onNote = useCallback((id: string) => handle?.openById(id), [handle]);
  const onFull = useCallback((id: string) => change({ panel: id }), [change]);
  const fold = (ids: readonly string[], folded: boolean) => {
    const others = view.folded.filter((id) => !ids.includes(id));
    change({ folded: folded ? [...others, ...ids] : others });
  };
  const context = useMemo(
    (): PanelContext => ({ marks, bands, limits, live: view.live, onZoom, onZoomOut, onInstant, onNote, onFull }),
    [marks, bands, limits, view.live, onZoom, onZoomOut, onInstant, onNote, onFull],
  );
  const alone = groups.flatMap(({ panels }) => panels).find(({ id }) => id === view.panel);
  return (
    <>
      <Toolbar
        folded={view.folded.length}
        notes={notes}
        range={feed.range}
        handle={handle}
        onFoldAll={(folded) =>
          fold(
            groups.map(({ group }) => group.id),
            folded,
          )
        }
      />
      {groups.map((one) => (
        <GroupSection
          key={one.group.id}
          {...one}
          folded={view.folded.includes(one.group.id)}
          onFold={(folded) => fold([one.group.id], folded)}
          bare={bare}
          watch={wanted.watch}
          context={context}
        />
      ))}
      {alone && <FullPanel panel={alone} context={context} onClose={() => change({ panel: null })} />}
      <NotesLayer notes={notes} error={notesError} onReady={setHandle} />
    </>
  );
}
