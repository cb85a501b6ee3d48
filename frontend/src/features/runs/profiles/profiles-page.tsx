import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { Link, useParams, useSearchParams } from "react-router";
import { profileOrdersQuery, profilesQuery } from "@/api/profiles/queries";
import type { ProfileList } from "@/api/profiles/types";
import { runQuery } from "@/api/runs/queries";
import type { Run } from "@/api/runs/types";
import { runTitle } from "@/lib/run-text";
import { useParams as useAddressParams, withParams } from "@/lib/use-params";
import { QueryFault } from "@/ui/fault/query-fault";
import { Loading } from "@/ui/loading";
import { PageHead } from "@/ui/page/page-head";
import { PageMessage } from "@/ui/page-message";
import { type Address, BASELINE, baseOf, choicesOf, kindsOf } from "./model";
import { OrderList } from "./order-list";
import { Pickers } from "./pickers";
import { ProfileBody } from "./profile-body";
import classes from "./profiles.module.css";

/** The profiles of a run, one kind at a time: functions, flame graph, and what changed since the baseline. */
export function ProfilesPage() {
  const { t } = useTranslation();
  const { runId = "" } = useParams();
  const run = useQuery(runQuery(runId));
  const [params] = useSearchParams();
  const against = params.get("against") ?? "";
  const list = useQuery(profilesQuery(runId, against === BASELINE ? "" : against));
  const orders = useQuery(profileOrdersQuery(runId));
  const name = run.data === undefined ? runId : runTitle(run.data);
  return (
    <div className={classes.page}>
      <PageHead title={t("profiles.titleOf", { run: name })}>
        <Link to={`/runs/${runId}#profiles`}>{t("profiles.toRun")}</Link>
      </PageHead>
      <QueryFault title={t("profiles.failed")} query={run.error === null ? list : run} />
      {(run.isPending || list.isPending) && <Loading height={420} label={t("profiles.loading")} />}
      {run.data !== undefined && list.data !== undefined && (
        <Chosen run={run.data} list={list.data} settled={!list.isPlaceholderData} />
      )}
      <OrderList orders={orders.data?.orders ?? []} />
    </div>
  );
}

function useAddress(list: ProfileList): Address {
  const [params, edit] = useAddressParams();
  const kinds = kindsOf(list.profiles);
  const kind = kinds.find((one) => one === params.get("kind")) ?? kinds[0] ?? "";
  return {
    kind,
    of: params.get("of") ?? "",
    type: params.get("type") ?? "",
    against: params.get("against") ?? "",
    set: (change) => edit((held) => withParams(held, change), true),
  };
}

/** `settled`: the list is that of the run in the address, and not of the one before. */
function Chosen({ run, list, settled }: { run: Run; list: ProfileList; settled: boolean }) {
  const { t } = useTranslation();
  const address = useAddress(list);
  const choices = choicesOf(list.profiles, address.kind);
  const choice = choices.find(({ id }) => id === address.of) ?? choices[0];
  if (choice === undefined) {
    return (
      <PageMessage icon="search" title={t("profiles.none")}>
        <p>{t("profiles.noneHint")}</p>
      </PageMessage>
    );
  }
  const base = baseOf(list, choice);
  return (
    <>
      <Pickers list={list} choices={choices} choice={choice} base={base} settled={settled} address={address} />
      {settled ? (
        <ProfileBody run={run} choice={choice} base={address.against === "" ? [] : base} address={address} />
      ) : (
        <Loading height={420} label={t("profiles.loading")} />
      )}
    </>
  );
}
