import { Select } from "@mantine/core";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { MetricInfo } from "@/api/compare/types";
import classes from "../compare.module.css";
import { metricOptions } from "../model/scenario-facts";

interface Props {
  readonly scenario: string | null;
  readonly scenarios: readonly { readonly value: string; readonly count: number }[];
  readonly version: string | null;
  readonly versions: readonly string[];
  readonly onScenario: (scenario: string) => void;
  readonly onVersion: (version: string | null) => void;
  readonly children: ReactNode;
}

const ALL = "";

/** Scenario and version, then what the page itself asks for. */
export function ScenarioPickers(props: Props) {
  const { t } = useTranslation();
  return (
    <div className={classes.pickers}>
      <Select
        size="xs"
        label={t("compare.scenario")}
        data={props.scenarios.map(({ value, count }) => ({ value, label: `${value} (${count})` }))}
        value={props.scenario}
        onChange={(value) => value !== null && props.onScenario(value)}
        allowDeselect={false}
        searchable
      />
      {props.versions.length > 0 && (
        <Select
          size="xs"
          w={120}
          label={t("compare.version")}
          data={[
            { value: ALL, label: t("compare.allVersions") },
            ...props.versions.map((value) => ({ value, label: value })),
          ]}
          value={props.version ?? ALL}
          onChange={(value) => props.onVersion(value === null || value === ALL ? null : value)}
          allowDeselect={false}
        />
      )}
      {props.children}
    </div>
  );
}

interface MetricProps {
  readonly label: string;
  readonly metrics: readonly MetricInfo[];
  readonly value: string;
  readonly onChange: (metric: string) => void;
}

export function MetricSelect({ label, metrics, value, onChange }: MetricProps) {
  const { t } = useTranslation();
  return (
    <Select
      size="xs"
      w={220}
      label={label}
      data={metricOptions(metrics, t("compare.partLoad"), t("compare.partSignals"), t("compare.partRoutes"))}
      value={value}
      onChange={(metric) => metric !== null && onChange(metric)}
      allowDeselect={false}
      searchable
      maxDropdownHeight={360}
    />
  );
}
