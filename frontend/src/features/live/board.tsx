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
import { useRunBands } from "@/panels/run/use-run-bands";
import { useThresholdLines } from "./cockpit/use-threshold-lines";
import { FullPanel } from "./full-panel";
import { GroupSection, type PanelContext } from "./group-section";
import { GroupsDialog } from "./groups-dialog";
import { Toolbar } from "./toolbar";
import { useGroupChoice } from "./use-group-choice";
import { useGroups } from "./use-groups";
import { usePanelAnchor } from "./use-panel-anchor";
import { useWanted } from "./use-wanted";

interface Props {
  readonly groups: readonly PanelGroup[];
  readonly runs: readonly Run[];
  /** Nobody has connected an application yet. */
  readonly bare: boolean;
}

/** The charts of all groups, and what is common to them: annotations, zoom, the batched feed. */
export function Board({ groups: packed, runs, bare }: Props) {
  const view = useView();
  const feed = useFeedState();
  const { notes, marks, error: notesError } = useNotes(feed.range);
  const [handle, setHandle] = useState<NotesHandle | null>(null);
  const bands = useRunBands(feed.range);
  const limits = useThresholdLines(runs);
  const chosen = useGroupChoice(packed);
  const { groups, choice } = chosen;
  const [choosing, setChoosing] = useState(false);
  const { folded, fold, hold } = useGroups(groups);
  // A link to a panel shows its group for as long as the link stands, hidden or not.
  const linked = usePanelAnchor(groups, folded, fold);
  const shown = groups.filter(({ group }) => group.id === linked || !choice.hidden.includes(group.id));
  const ids = shown.map(({ group }) => group.id);
  const wanted = useWanted(groups, folded, view.panel);

  const { setRange, undoRange, canUndo, change, range, pausedAt } = view;
  const onZoom = useCallback((next: Range) => setRange(absoluteRange(next.startMs, next.endMs)), [setRange]);
  const onZoomOut = useCallback(() => {
    if (canUndo) undoRange();
    else setRange(widenRange(range, 2, pausedAt ?? serverNow()));
  }, [canUndo, undoRange, setRange, range, pausedAt]);
  const onInstant = useCallback((timeMs: number) => handle?.add(timeMs, null), [handle]);
  const onNote = useCallback((id: string) => handle?.openById(id), [handle]);
  const onFull = useCallback((id: string) => change({ panel: id, perInstance: false }), [change]);
  const onPerInstance = useCallback((id: string) => change({ panel: id, perInstance: true }), [change]);
  const context = useMemo(
    (): PanelContext => ({
      ...{ marks, bands, limits, live: view.live, onZoom, onZoomOut, onInstant, onNote, onFull, onPerInstance },
    }),
    [marks, bands, limits, view.live, onZoom, onZoomOut, onInstant, onNote, onFull, onPerInstance],
  );
  const alone = groups.flatMap(({ panels }) => panels).find(({ id }) => id === view.panel);
  return (
    <>
      <Toolbar
        folded={folded.filter((id) => ids.includes(id)).length}
        hidden={groups.length - shown.length}
        notes={notes}
        range={feed.range}
        handle={handle}
        onFoldAll={(on) => fold(ids, on)}
        onGroups={() => setChoosing(true)}
      />
      <div {...hold}>
        {shown.map((one) => (
          <GroupSection
            key={one.group.id}
            {...one}
            folded={folded.includes(one.group.id)}
            onFold={(on) => fold([one.group.id], on)}
            bare={bare}
            watch={wanted.watch}
            context={context}
          />
        ))}
      </div>
      {alone && <FullPanel panel={alone} context={context} onClose={() => change({ panel: null })} />}
      {choosing && <GroupsDialog {...chosen} onClose={() => setChoosing(false)} />}
      <NotesLayer notes={notes} error={notesError} onReady={setHandle} />
    </>
  );
}
