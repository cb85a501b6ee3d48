import type { ComponentProps, ReactNode } from "react";
import { Icon } from "@/ui/icon";
import { ScrollBox } from "./scroll-box";
import classes from "./table.module.css";

interface TableProps extends ComponentProps<"table"> {
  /** Names the box where it scrolls. */
  readonly label: string;
  /** Without a frame: the table stands in one already. */
  readonly bare?: boolean;
}

/** A table in a box that scrolls; `className` is what one page's table has of its own. */
export function Table({ label, bare = false, className = "", ...table }: TableProps) {
  return (
    <ScrollBox label={label} className={bare ? classes.bare : classes.box}>
      <table className={`${classes.table} ${className}`} {...table} />
    </ScrollBox>
  );
}

export type SortOrder = "none" | "ascending" | "descending";

/** How a column stands when the table is sorted by it, or by another one. */
export function sortOrder(held: boolean, descending: boolean): SortOrder {
  return !held ? "none" : descending ? "descending" : "ascending";
}

interface HeadProps {
  readonly order: SortOrder;
  readonly number?: boolean;
  readonly title?: string | undefined;
  readonly onSort: () => void;
  readonly children: ReactNode;
}

/** The head of a column that sorts by it; the arrow of a column of numbers stands before its name. */
export function SortHead({ order, number = false, title, onSort, children }: HeadProps) {
  return (
    <th scope="col" aria-sort={order} data-number={number}>
      <button type="button" className={classes.sort} onClick={onSort} title={title}>
        {children}
        <span className={classes.arrow} data-order={order}>
          <Icon name="chevronDown" size={11} />
        </span>
      </button>
    </th>
  );
}
