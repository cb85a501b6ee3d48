import type { ReactNode } from "react";
import type { ChartMessages } from "@/charts/messages";

/** What stands in place of the plot; the plot's box keeps its size, so nothing jumps. */
export type ChartPhase =
  | { readonly kind: "ready" }
  | { readonly kind: "loading" }
  | { readonly kind: "empty"; readonly hint: ReactNode }
  | { readonly kind: "error"; readonly message: string };

export function ChartStatus({ phase, messages }: { phase: ChartPhase; messages: ChartMessages }) {
  switch (phase.kind) {
    case "ready":
      return null;
    case "loading":
      return (
        <div className="lw-status lw-status-loading" role="status">
          <span className="lw-hidden">{messages.loading}</span>
          <span className="lw-skeleton" aria-hidden="true" />
        </div>
      );
    case "empty":
      return (
        <div className="lw-status">
          <p className="lw-status-title">{messages.empty}</p>
          {phase.hint !== null && <div className="lw-status-hint">{phase.hint}</div>}
        </div>
      );
    case "error":
      return (
        <div className="lw-status lw-status-error" role="alert">
          <p className="lw-status-title">
            <span aria-hidden="true">⚠ </span>
            {messages.failed}
          </p>
          <div className="lw-status-hint">{phase.message}</div>
        </div>
      );
  }
}
