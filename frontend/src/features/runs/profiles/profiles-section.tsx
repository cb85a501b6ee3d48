import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { profileOrdersQuery, profilesQuery } from "@/api/profiles/queries";
import type { Profile } from "@/api/profiles/types";
import type { Run } from "@/api/runs/types";
import { formatCount } from "@/lib/run-text";
import { QueryFault } from "@/ui/fault/query-fault";
import { Table } from "@/ui/list/table";
import { Section } from "@/ui/page/section";
import { Dim, Hint } from "@/ui/text/text";
import { BringButton, DropZone } from "../files/bring";
import pageClasses from "../page/run-page.module.css";
import { useBringing } from "./bring-profile";
import { choicesOf, kindsOf } from "./model";
import { OrderList } from "./order-list";
import { CauseText, processOf, TakenAt, useKindText } from "./profile-facts";
import classes from "./profiles.module.css";
import { TakeProfile } from "./take-profile";

const RUNNING_MS = 3000;

/** The profiles of a run by kind, what became of those that were ordered, and ways to more. */
export function ProfilesSection({ run }: { run: Run }) {
  const { t } = useTranslation();
  const refetchInterval = run.state === "running" && !run.silent ? RUNNING_MS : false;
  const list = useQuery({ ...profilesQuery(run.id), refetchInterval });
  const orders = useQuery({ ...profileOrdersQuery(run.id), refetchInterval });
  const bringing = useBringing(run.id);
  const profiles = list.data?.profiles ?? [];
  const kinds = [...new Set(orders.data?.processes.flatMap((one) => one.kinds) ?? [])];
  return (
    <Section
      id="profiles"
      title={t("profiles.title")}
      aside={
        <span className={classes.tools}>
          {kinds.length > 0 && <TakeProfile run={run.id} kinds={kinds} />}
          <BringButton bringing={bringing} />
        </span>
      }
    >
      <QueryFault title={t("profiles.failed")} query={list} />
      <DropZone bringing={bringing}>
        {profiles.length > 0 && <KindTable run={run} profiles={profiles} />}
        {list.data !== undefined && profiles.length === 0 && (
          <>
            <p>{t("profiles.none")}</p>
            <Hint>{t("profiles.noneHint")}</Hint>
          </>
        )}
        <OrderList orders={orders.data?.orders ?? []} />
      </DropZone>
    </Section>
  );
}

function KindTable({ run, profiles }: { run: Run; profiles: readonly Profile[] }) {
  const { t } = useTranslation();
  const text = useKindText();
  return (
    <Table label={t("profiles.table")} bare className={pageClasses.table}>
      <thead>
        <tr>
          <th scope="col">{t("profiles.kind")}</th>
          <th scope="col">{t("profiles.process")}</th>
          <th scope="col">{t("profiles.when")}</th>
          <th scope="col">{t("profiles.cause")}</th>
        </tr>
      </thead>
      <tbody>
        {kindsOf(profiles).flatMap((kind) =>
          choicesOf(profiles, kind).map(({ id, profiles: chosen }) => {
            const [first] = chosen;
            if (first === undefined) return null;
            const query = new URLSearchParams({ kind, of: id });
            return (
              <tr key={`${kind} ${id}`}>
                <th scope="row">
                  <Link to={`/runs/${run.id}/profiles?${query}`}>{text.name(kind)}</Link> <Dim>{text.means(kind)}</Dim>
                </th>
                <td className={classes.process}>
                  {id === "all" ? t("profiles.processes", { count: chosen.length }) : processOf(first)}
                </td>
                <td>
                  <TakenAt profile={first} run={run} />
                  {first.requests !== null && (
                    <Dim> · {t("profiles.requests", { number: formatCount(Math.round(first.requests)) })}</Dim>
                  )}
                </td>
                <td>
                  <CauseText profile={first} />
                </td>
              </tr>
            );
          }),
        )}
      </tbody>
    </Table>
  );
}
