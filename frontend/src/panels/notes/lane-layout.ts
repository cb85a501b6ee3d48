/** Where the labels of annotations fit on a lane. All places are percent of its width. Pure. */

export interface LaneMark {
  readonly id: number;
  readonly left: number;
  /** Width of a span, or null for an instant. */
  readonly width: number | null;
}

export interface LaneLabel {
  /** Room for the label; below `LEAST_LABEL` nothing would be readable. */
  readonly room: number;
  /** The label stands before its mark, because there is more room than behind it. */
  readonly before: boolean;
}

/** About 60 px of an ordinary lane. */
const LEAST_LABEL = 6;

/** Labels that neither cover another mark nor leave the lane, by id. */
export function layOutLabels(marks: readonly LaneMark[]): ReadonlyMap<number, LaneLabel> {
  const sorted = marks.toSorted((a, b) => a.left - b.left);
  const labels = new Map<number, LaneLabel>();
  // The end of what is taken already, so that two labels never share a place.
  let taken = 0;
  sorted.forEach((mark, index) => {
    const next = sorted[index + 1]?.left ?? 100;
    if (mark.width !== null) {
      labels.set(mark.id, { room: mark.width, before: false });
      taken = Math.max(taken, mark.left + mark.width);
      return;
    }
    const behind = next - mark.left;
    const ahead = mark.left - taken;
    const before = behind < LEAST_LABEL && ahead > behind;
    const room = before ? ahead : behind;
    labels.set(mark.id, { room: room < LEAST_LABEL ? 0 : room, before });
    taken = before ? mark.left : Math.min(next, mark.left + 25);
  });
  return labels;
}
