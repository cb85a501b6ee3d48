import { NativeSelect, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import { useTranslation } from "react-i18next";
import { profileViewQuery } from "@/api/profiles/queries";
import type { Profile, ProfileView } from "@/api/profiles/types";
import type { Run } from "@/api/runs/types";
import { formatCount } from "@/lib/run-text";
import { useLocale } from "@/lib/use-locale";
import { CommandLine } from "@/ui/command-line";
import { QueryFault } from "@/ui/fault/query-fault";
import { Icon } from "@/ui/icon";
import { Loading } from "@/ui/loading";
import { Section } from "@/ui/page/section";
import { PageMessage } from "@/ui/page-message";
import { Delta } from "./delta";
import { FunctionTable } from "./function-table";
import { type Address, type Choice, formatOf } from "./model";
import { Originals } from "./originals";
import { CauseText, processOf, TakenAt, useKindText } from "./profile-facts";
import { ProfileFlame } from "./profile-flame";
import classes from "./profiles.module.css";
import { LabelTables, StackChanges } from "./stack-changes";

interface Props {
  readonly run: Run;
  readonly choice: Choice;
  readonly base: readonly Profile[];
  readonly address: Address;
}

/** One profile, or several as one, alone or held against another run's. */
export function ProfileBody({ run, choice, base, address }: Props) {
  const { t } = useTranslation();
  const locale = useLocale();
  const ids = (profiles: readonly Profile[]) => profiles.map(({ id }) => id);
  const ask = { files: ids(choice.profiles), base: ids(base), type: address.type };
  const view = useQuery(profileViewQuery(ask, locale));
  const [search, setSearch] = useState("");
  const wanted = useDeferredValue(search);
  return (
    <>
      <QueryFault title={t("profiles.viewFailed")} query={view} />
      {view.isPending && <Loading height={420} label={t("profiles.loading")} />}
      {view.data !== undefined && (
        <>
          <Summary run={run} choice={choice} view={view.data} address={address} />
          {view.data.total === 0 && !view.data.base_total ? (
            <Nothing kind={view.data.kind} />
          ) : (
            <>
              <TextInput
                size="sm"
                type="search"
                label={t("profiles.search")}
                leftSection={<Icon name="search" size={14} />}
                value={search}
                onChange={(event) => setSearch(event.currentTarget.value)}
              />
              <ProfileFlame view={view.data} search={wanted} />
              <FunctionTable view={view.data} search={wanted} />
              {view.data.labels.length > 0 && <LabelTables view={view.data} />}
              {view.data.new && view.data.gone && <StackChanges view={view.data} />}
            </>
          )}
        </>
      )}
      <Originals profiles={choice.profiles} base={base} />
    </>
  );
}

function Summary({ run, choice, view, address }: { run: Run; choice: Choice; view: ProfileView; address: Address }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const text = useKindText();
  const format = formatOf(view.type.unit, locale);
  const [first] = choice.profiles;
  const requests = (value: number | null) => formatCount(Math.round(value ?? 0));
  return (
    <Section title={text.name(view.kind)} aside={text.means(view.kind)}>
      <p className={classes.summary}>
        <strong>{t("profiles.totalOf", { total: format(view.total) })}</strong>
        {view.base_total !== null && <Delta value={view.total} base={view.base_total} format={format} />}
        {view.base_total !== null && (
          <span>
            {view.normalised === "request"
              ? t("profiles.perRequest", { now: requests(view.requests), base: requests(view.base_requests) })
              : t(view.normalised === "second" ? "profiles.perSecond" : "profiles.perNothing")}
          </span>
        )}
        {view.requests_by === "routes" && <span>{t("cost.requests_routes")}</span>}
        {first !== undefined && (
          <span>
            {choice.id === "all" ? t("profiles.processes", { count: choice.profiles.length }) : processOf(first)}
          </span>
        )}
        {first !== undefined && (
          <span>
            <TakenAt profile={first} run={run} />
          </span>
        )}
        {first !== undefined && (
          <span>
            <CauseText profile={first} />
          </span>
        )}
        {view.base_total === null && view.requests !== null && (
          <span>{t("profiles.requests", { number: requests(view.requests) })}</span>
        )}
      </p>
      {view.types.length > 1 && (
        <NativeSelect
          size="xs"
          className={classes.type ?? ""}
          label={t("profiles.type")}
          value={view.type.name}
          onChange={(event) => address.set({ type: event.currentTarget.value })}
          data={view.types.map(({ name, unit }) => ({ value: name, label: `${name} (${unit})` }))}
        />
      )}
      {view.notes.length > 0 && (
        <ul className={classes.orders} aria-label={t("profiles.notes")}>
          {view.notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
    </Section>
  );
}

const SETTINGS: Readonly<Record<string, string>> = {
  mutex: "runtime.SetMutexProfileFraction(100)",
  block: "runtime.SetBlockProfileRate(1_000_000) // one event for each millisecond of waiting",
};

/** A profile without a sample: because nothing happened, or because Go does not record it unless it is told to. */
function Nothing({ kind }: { kind: string }) {
  const { t } = useTranslation();
  const line = SETTINGS[kind];
  return (
    <PageMessage icon="search" title={t("profiles.empty")}>
      <p>{kind === "mutex" || kind === "block" ? t(`profiles.empty_${kind}`) : t("profiles.empty_other")}</p>
      {line !== undefined && <CommandLine text={line} />}
    </PageMessage>
  );
}
