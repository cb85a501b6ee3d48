import { TagsInput } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { MOST_PERCENTILES, parsePercentile, SUGGESTED_PERCENTILES } from "@/lib/series/percentiles";

interface Props {
  /** Those besides p50, p90, p95 and p99. */
  readonly names: readonly string[];
  readonly onChange: (names: readonly string[]) => void;
}

/** Adds percentiles to a table, and takes them away again. */
export function PercentileChooser({ names, onChange }: Props) {
  const { t } = useTranslation();
  const [refused, refuse] = useState("");
  return (
    <TagsInput
      size="xs"
      w={200}
      aria-label={t("percentiles.add")}
      placeholder={names.length === 0 ? t("percentiles.add") : ""}
      maxTags={MOST_PERCENTILES}
      data={[...SUGGESTED_PERCENTILES]}
      value={[...names]}
      error={refused === "" ? undefined : t("percentiles.refused", { text: refused })}
      onChange={(wanted) => {
        refuse(wanted.find((text) => parsePercentile(text) === null) ?? "");
        onChange(wanted.filter((text) => parsePercentile(text) !== null));
      }}
    />
  );
}
