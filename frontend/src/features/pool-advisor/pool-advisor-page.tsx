import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Link, useSearchParams } from "react-router";
import { poolAdviceQuery } from "@/api/pools/queries";
import type { PoolAdvice } from "@/api/pools/types";
import { formatClock, formatDay } from "@/lib/time/time";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { useWords } from "@/panels/findings/words";
import { CommandLine } from "@/ui/command-line";
import { QueryFault } from "@/ui/fault/query-fault";
import { FilterSelect } from "@/ui/list/filter-bar";
import { Loading } from "@/ui/loading";
import { PageHead } from "@/ui/page/page-head";
import { PageMessage } from "@/ui/page-message";
import { Hint } from "@/ui/text/text";
import { DatabaseSection } from "./database-section";
import { GroupSection } from "./group-section";
import classes from "./pool-advisor.module.css";

const SPANS = ["5", "15", "60", "360"] as const;
const USUAL = "15";
/** A slider asks when it has come to rest. */
const REST_MS = 250;

/** How large each pool should be, by what was asked of it and by what the database leaves. */
export function PoolAdvisorPage() {
  const { t } = useTranslation();
  const [params, setParams] = useSearchParams();
  const [instances, setInstances] = useState<Readonly<Record<string, number>>>({});
  const [settled] = useDebouncedValue(instances, REST_MS);
  const run = params.get("run");
  const span = SPANS.find((one) => one === params.get("span")) ?? USUAL;
  const server = params.get("server") ?? "";
  const advice = useQuery(poolAdviceQuery({ run, minutes: Number(span), server, instances: settled }));
  const set = (name: string, value: string | null) =>
    setParams(
      (held) => {
        const next = new URLSearchParams(held);
        if (value === null) next.delete(name);
        else next.set(name, value);
        return next;
      },
      { replace: true, preventScrollReset: true },
    );
  return (
    <>
      <PageHead
        title={t("pools.title")}
        actions={
          run === null ? (
            <FilterSelect
              label={t("pools.over")}
              value={span}
              values={SPANS}
              name={(one) => t(`pools.span_${one}`)}
              onChange={(one) => set("span", one)}
            />
          ) : (
            <Link to={`/runs/${run}`}>{t("pools.ofRun", { run })}</Link>
          )
        }
      />
      <Hint>
        {t("pools.lead")} {advice.data !== undefined && <Window advice={advice.data} />}
      </Hint>
      <QueryFault title={t("pools.failed")} query={advice} />
      {advice.isPending && <Loading height={420} label={t("pools.loading")} />}
      {advice.data !== undefined && advice.data.groups.length === 0 && <NoPools advice={advice.data} />}
      {advice.data !== undefined && advice.data.groups.length > 0 && (
        <div className={classes.page} aria-busy={advice.isPlaceholderData}>
          <DatabaseSection advice={advice.data} onServer={(one) => set("server", one)} />
          {advice.data.groups.map((group) => (
            <GroupSection
              key={`${group.job}/${group.pool}`}
              group={group}
              instances={instances[group.job] ?? group.seen}
              onInstances={(count) => setInstances((held) => ({ ...held, [group.job]: count }))}
            />
          ))}
        </div>
      )}
    </>
  );
}

function Window({ advice }: { advice: PoolAdvice }) {
  const { t } = useTranslation();
  const { zone } = useView();
  const locale = useLocale();
  const at = (ms: number) => `${formatDay(ms, zone, locale)} ${formatClock(ms, zone, "second")}`;
  return t("pools.window", { from: at(advice.from_ms), to: at(advice.to_ms) });
}

function NoPools({ advice }: { advice: PoolAdvice }) {
  const { t } = useTranslation();
  const words = useWords();
  const note = advice.notes.find(({ id }) => id === "no-pool");
  return (
    <PageMessage icon="target" title={t("pools.empty")}>
      {note !== undefined && <p>{words(note.text)}</p>}
      <p>{t("pools.emptyHint")}</p>
      <CommandLine text={note?.config ?? ""} />
    </PageMessage>
  );
}
