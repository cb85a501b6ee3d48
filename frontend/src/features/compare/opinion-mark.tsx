import { useTranslation } from "react-i18next";
import type { Opinion } from "@/api/compare/types";
import classes from "./opinion-mark.module.css";

/** A shape for each, so that the word and the colour only repeat it. */
const SHAPES: Readonly<Record<Opinion, string>> = {
  better: "m3 8.5 3.2 3.2L13 4.8",
  worse: "M5.4 1.8h5.2l3.6 3.6v5.2l-3.6 3.6H5.4l-3.6-3.6V5.4zM8 4.8v3.8M8 11h.01",
  same: "M2.5 6c1.8-2 3.7-2 5.5-.5s3.7 1.5 5.5-.5M2.5 11c1.8-2 3.7-2 5.5-.5s3.7 1.5 5.5-.5",
  unclear: "M5.5 6a2.5 2.5 0 1 1 3.6 2.2c-.8.4-1.1.9-1.1 1.8M8 12.5h.01",
  neutral: "M2.5 6h11M2.5 10h11M10.5 2.5l-5 11",
};

/** What a difference means: icon and word. */
export function OpinionMark({ opinion, label }: { opinion: Opinion; label?: string }) {
  const { t } = useTranslation();
  return (
    <span className={classes.mark} data-opinion={opinion}>
      <svg
        width={13}
        height={13}
        viewBox="0 0 16 16"
        fill="none"
        stroke="currentColor"
        strokeWidth={1.6}
        strokeLinecap="round"
        strokeLinejoin="round"
        aria-hidden="true"
      >
        <path d={SHAPES[opinion]} />
      </svg>
      {label ?? t(`compare.opinion_${opinion}`)}
    </span>
  );
}
