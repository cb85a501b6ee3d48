import { Select } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { runSearchQuery } from "@/api/compare/queries";
import type { RunLine } from "@/api/runs/types";
import { runTitle, shortCommit } from "@/lib/run-text";
import { formatInstant } from "@/lib/time/time";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { Icon } from "@/ui/icon";
import { wholeSecond } from "../model/run-links";
import { MOST_RUNS } from "../model/state";

/** Finds a run by any word of it and adds it to the comparison. */
export function AddRun({ runs, onAdd }: { runs: readonly string[]; onAdd: (run: string) => void }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const { zone } = useView();
  const [words, setWords] = useState("");
  const [asked] = useDebouncedValue(words, 200);
  const found = useQuery(runSearchQuery(asked));
  const full = runs.length >= MOST_RUNS;
  const describe = (run: RunLine) =>
    [runTitle(run), shortCommit(run.commit), formatInstant(wholeSecond(run.started_ms), zone, locale)]
      .filter(Boolean)
      .join(" · ");
  const data = (found.data?.runs ?? [])
    .filter(({ id }) => !runs.includes(id))
    .map((run) => ({ value: run.id, label: describe(run) }));
  return (
    <Select
      size="xs"
      w={260}
      aria-label={t("compare.add")}
      placeholder={full ? t("compare.full", { count: MOST_RUNS }) : t("compare.add")}
      disabled={full}
      leftSection={<Icon name="plus" size={13} />}
      data={data}
      value={null}
      searchable
      searchValue={words}
      onSearchChange={setWords}
      filter={({ options }) => options}
      nothingFoundMessage={found.isPending ? t("compare.searching") : t("compare.noneFound")}
      comboboxProps={{ width: 420, position: "bottom-start" }}
      maxDropdownHeight={360}
      onChange={(run) => {
        if (run !== null) onAdd(run);
        setWords("");
      }}
    />
  );
}
