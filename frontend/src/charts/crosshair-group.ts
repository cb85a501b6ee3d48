/**
 * The crosshair that all charts of a page share. It works on the DOM alone: a move of the mouse renders nothing in
 * React, and many moves within one frame cost one.
 */

import type { ScreenPoint } from "@/charts/chart-types";
import type { Range } from "@/lib/time/time";

/** What a chart does for the group. */
export interface CrosshairMember {
  /** Moves the line to a time; null hides it. `isSource`: the chart under the pointer or with the focus. */
  showCrosshair(timeMs: number | null, isSource: boolean): void;
  showSelection(range: Range | null): void;
  /** Fills and places the tooltip of the source; null hides it. */
  showTooltip(timeMs: number | null, at: ScreenPoint | null): void;
}

export class CrosshairGroup {
  private readonly members = new Set<CrosshairMember>();
  private timeMs: number | null = null;
  private source: CrosshairMember | null = null;
  private at: ScreenPoint | null = null;
  private selection: Range | null = null;
  private frame = 0;

  join(member: CrosshairMember): () => void {
    this.members.add(member);
    return () => {
      this.members.delete(member);
      if (this.source === member) this.clear(member);
    };
  }

  get current(): number | null {
    return this.timeMs;
  }

  get selected(): Range | null {
    return this.selection;
  }

  isSource(member: CrosshairMember): boolean {
    return this.source === member;
  }

  /** `at`: the pointer's place in the window, or null when the tooltip should stand beside the line. */
  move(source: CrosshairMember, timeMs: number, at: ScreenPoint | null): void {
    if (this.source !== null && this.source !== source) this.source.showTooltip(null, null);
    this.source = source;
    this.timeMs = timeMs;
    this.at = at;
    this.schedule();
  }

  select(range: Range | null): void {
    this.selection = range;
    this.schedule();
  }

  clear(source: CrosshairMember): void {
    if (this.source !== null && this.source !== source) return;
    this.source?.showTooltip(null, null);
    this.source = null;
    this.timeMs = null;
    this.at = null;
    this.schedule();
  }

  /** Puts crosshair and tooltip of one chart right after its data or scale changed. */
  refresh(member: CrosshairMember): void {
    if (this.timeMs === null && this.selection === null) return;
    this.apply(member);
  }

  private schedule(): void {
    if (this.frame !== 0) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      for (const member of this.members) this.apply(member);
    });
  }

  private apply(member: CrosshairMember): void {
    const isSource = member === this.source;
    member.showSelection(this.selection);
    member.showCrosshair(this.timeMs, isSource);
    if (isSource) member.showTooltip(this.timeMs, this.at);
  }
}
