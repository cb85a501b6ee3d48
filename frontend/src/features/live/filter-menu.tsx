import { Button, MultiSelect, Popover } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { targetsQuery } from "@/api/queries";
import { useView } from "@/lib/view/context";
import { withFilter } from "@/lib/view/state";
import { Icon } from "@/ui/icon";
import classes from "./live-page.module.css";

const LABELS = ["job", "instance"] as const;

/** Narrows every chart to some jobs or instances. */
export function FilterMenu() {
  const { t } = useTranslation();
  const view = useView();
  const targets = useQuery({ ...targetsQuery, staleTime: 10_000 });
  const count = Object.values(view.filters).reduce((sum, values) => sum + values.length, 0);
  const chosen = Object.entries(view.filters).map(([label, values]) => `${label}=${values.join("|")}`);
  const known = (label: (typeof LABELS)[number]) =>
    [...new Set([...(targets.data?.targets ?? []).map((target) => target[label]), ...(view.filters[label] ?? [])])]
      .filter((value) => value !== "")
      .sort();
  return (
    <Popover position="bottom-start" shadow="md" width={300} trapFocus returnFocus>
      <Popover.Target>
        <Button
          size="compact-sm"
          variant={count > 0 ? "light" : "default"}
          leftSection={<Icon name="filter" size={13} />}
          className={classes.filterButton ?? ""}
          title={count > 0 ? t("live.filtered", { labels: chosen.join(", ") }) : undefined}
        >
          {t("live.filters")}
          {count > 0 && ` (${count})`}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={t("live.filters")}>
        {LABELS.map((label) => (
          <MultiSelect
            key={label}
            mb="xs"
            label={label === "job" ? t("live.filterJob") : t("live.filterInstance")}
            placeholder={(view.filters[label] ?? []).length === 0 ? t("live.filterAll") : ""}
            data={known(label)}
            value={[...(view.filters[label] ?? [])]}
            onChange={(values) => view.change({ filters: withFilter(view.filters, label, values) })}
            comboboxProps={{ withinPortal: false }}
            searchable
            clearable
            clearButtonProps={{ "aria-label": t("action.clear") }}
          />
        ))}
        <Button size="compact-sm" variant="default" disabled={count === 0} onClick={() => view.change({ filters: {} })}>
          {t("live.filterClear")}
        </Button>
      </Popover.Dropdown>
    </Popover>
  );
}
