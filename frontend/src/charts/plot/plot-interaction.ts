/** Pointer, touch and keys on a chart's plot area. Native listeners: nothing here renders in React. */

import type { ScreenPoint } from "@/charts/chart-types";
import type { CrosshairGroup } from "@/charts/crosshair-group";
import type { Range } from "@/lib/time/time";
import type { PlotModel } from "./plot-model";

const DRAG_PX = 5;
const DOUBLE_CLICK_MS = 260;

export interface PlotCallbacks {
  readonly onZoom?: ((range: Range) => void) | undefined;
  readonly onZoomOut?: (() => void) | undefined;
  readonly onInstant?: ((timeMs: number, at: ScreenPoint) => void) | undefined;
}

interface Press {
  readonly x: number;
  readonly timeMs: number;
  dragging: boolean;
}

export function attachInteraction(
  surface: HTMLElement,
  model: PlotModel,
  group: CrosshairGroup,
  callbacks: () => PlotCallbacks,
): () => void {
  const interaction = new PlotInteraction(surface, model, group, callbacks);
  const ends = new AbortController();
  const { signal } = ends;
  surface.addEventListener("pointermove", interaction.move, { signal });
  surface.addEventListener("pointerdown", interaction.press, { signal });
  surface.addEventListener("pointerup", interaction.release, { signal });
  surface.addEventListener("pointercancel", interaction.cancel, { signal });
  surface.addEventListener("pointerleave", interaction.leave, { signal });
  surface.addEventListener("dblclick", interaction.doubleClick, { signal });
  surface.addEventListener("keydown", interaction.key, { signal });
  surface.addEventListener("blur", interaction.blur, { signal });
  return () => {
    ends.abort();
    interaction.end();
  };
}

class PlotInteraction {
  private pressed: Press | null = null;
  private click: ReturnType<typeof setTimeout> | undefined;
  private anchorMs: number | null = null;
  private readonly surface: HTMLElement;
  private readonly model: PlotModel;
  private readonly group: CrosshairGroup;
  private readonly callbacks: () => PlotCallbacks;

  constructor(surface: HTMLElement, model: PlotModel, group: CrosshairGroup, callbacks: () => PlotCallbacks) {
    this.surface = surface;
    this.model = model;
    this.group = group;
    this.callbacks = callbacks;
  }

  end(): void {
    clearTimeout(this.click);
  }

  readonly move = (event: PointerEvent): void => {
    const timeMs = this.model.timeAtClient(event.clientX);
    if (timeMs === null) return;
    this.group.move(this.model, timeMs, { x: event.clientX, y: event.clientY });
    const press = this.pressed;
    if (press === null || event.pointerType === "touch" || this.callbacks().onZoom === undefined) return;
    if (!press.dragging && Math.abs(event.clientX - press.x) < DRAG_PX) return;
    press.dragging = true;
    this.group.select({ startMs: press.timeMs, endMs: timeMs });
  };

  readonly press = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    const timeMs = this.model.timeAtClient(event.clientX);
    if (timeMs === null) return;
    this.pressed = { x: event.clientX, timeMs, dragging: false };
    // Outside the plot the drag must go on; jsdom and old WebViews lack capture.
    if (event.pointerType !== "touch") this.surface.setPointerCapture?.(event.pointerId);
    else this.move(event);
  };

  readonly release = (event: PointerEvent): void => {
    const press = this.pressed;
    this.pressed = null;
    if (press === null) return;
    const selected = this.group.selected;
    if (press.dragging && selected !== null) {
      this.zoomTo(selected);
      return;
    }
    if (event.pointerType === "touch") return;
    this.choose(press.timeMs, { x: event.clientX, y: event.clientY }, event.ctrlKey || event.altKey || event.metaKey);
  };

  readonly cancel = (): void => {
    this.pressed = null;
    this.group.select(null);
  };

  readonly leave = (event: PointerEvent): void => {
    if (event.pointerType === "touch") return;
    this.group.clear(this.model);
  };

  readonly doubleClick = (event: MouseEvent): void => {
    clearTimeout(this.click);
    event.preventDefault();
    this.callbacks().onZoomOut?.();
  };

  readonly blur = (): void => {
    this.clear();
  };

  readonly key = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (!this.handleKey(event)) return;
    event.preventDefault();
    event.stopPropagation();
  };

  private handleKey(event: KeyboardEvent): boolean {
    const limits = this.model.readingLimits();
    const from = this.group.isSource(this.model) ? this.group.current : null;
    const steps = event.shiftKey ? 10 : 1;
    switch (event.key) {
      case "ArrowLeft":
        return this.moveTo(from === null ? (limits?.endMs ?? null) : this.model.stepTime(from, -steps));
      case "ArrowRight":
        return this.moveTo(from === null ? (limits?.startMs ?? null) : this.model.stepTime(from, steps));
      case "Home":
        return this.moveTo(limits?.startMs ?? null);
      case "End":
        return this.moveTo(limits?.endMs ?? null);
      case " ":
        return this.mark(from);
      case "Enter":
        return this.confirm(from);
      case "Backspace":
        this.callbacks().onZoomOut?.();
        return this.callbacks().onZoomOut !== undefined;
      case "Escape": {
        const busy = from !== null || this.group.selected !== null;
        this.clear();
        return busy;
      }
      default:
        return false;
    }
  }

  private moveTo(wanted: number | null): boolean {
    const timeMs = wanted === null ? null : this.model.stepTime(wanted, 0);
    if (timeMs === null) return false;
    this.group.move(this.model, timeMs, null);
    if (this.anchorMs !== null) this.group.select({ startMs: this.anchorMs, endMs: timeMs });
    this.model.announceAt(timeMs);
    return true;
  }

  private mark(timeMs: number | null): boolean {
    if (timeMs === null || this.callbacks().onZoom === undefined) return false;
    this.anchorMs = timeMs;
    this.group.select({ startMs: timeMs, endMs: timeMs });
    return true;
  }

  private confirm(timeMs: number | null): boolean {
    const selected = this.group.selected;
    if (this.anchorMs !== null && selected !== null && selected.startMs !== selected.endMs) {
      this.zoomTo(selected);
      return true;
    }
    if (timeMs === null) return false;
    this.callbacks().onInstant?.(timeMs, this.model.screenPoint(timeMs));
    return true;
  }

  private zoomTo(selected: Range): void {
    this.anchorMs = null;
    this.group.select(null);
    const startMs = Math.min(selected.startMs, selected.endMs);
    const endMs = Math.max(selected.startMs, selected.endMs);
    if (endMs > startMs) this.callbacks().onZoom?.({ startMs: Math.floor(startMs), endMs: Math.ceil(endMs) });
  }

  /** A plain click waits for a second one, which means zooming out; with a modifier it is meant at once. */
  private choose(timeMs: number, at: ScreenPoint, atOnce: boolean): void {
    const { onInstant, onZoomOut } = this.callbacks();
    if (onInstant === undefined) return;
    clearTimeout(this.click);
    if (atOnce || onZoomOut === undefined) onInstant(timeMs, at);
    else this.click = setTimeout(() => this.callbacks().onInstant?.(timeMs, at), DOUBLE_CLICK_MS);
  }

  private clear(): void {
    this.anchorMs = null;
    this.pressed = null;
    this.group.select(null);
    this.group.clear(this.model);
  }
}
