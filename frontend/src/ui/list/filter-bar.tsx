import { NativeSelect } from "@mantine/core";
import type { ReactNode } from "react";
import classes from "./filter-bar.module.css";

/** The row of search and filters above a list. */
export function FilterBar({ label, children }: { label?: string; children: ReactNode }) {
  return (
    <search className={classes.bar} aria-label={label}>
      {children}
    </search>
  );
}

interface Props<T extends string> {
  readonly label: string;
  readonly value: T | null;
  readonly values: readonly T[];
  readonly name: (value: T) => string;
  /** How it is called when nothing is asked for; without it something always is. */
  readonly any?: string;
  readonly onChange: (value: T | null) => void;
}

/** A filter of which one value is chosen. */
export function FilterSelect<T extends string>({ label, value, values, name, any, onChange }: Props<T>) {
  return (
    <NativeSelect
      className={classes.select ?? ""}
      size="sm"
      aria-label={label}
      value={value ?? ""}
      data={[
        ...(any === undefined ? [] : [{ value: "", label: any }]),
        ...values.map((one) => ({ value: one, label: name(one) })),
      ]}
      onChange={(event) => onChange(values.find((one) => one === event.currentTarget.value) ?? null)}
    />
  );
}
