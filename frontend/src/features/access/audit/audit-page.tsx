import { Button } from "@mantine/core";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { auditQuery } from "@/api/access/queries";
import { serverNow } from "@/api/server-clock";
import { useMay } from "@/lib/access-scopes";
import { useParams } from "@/lib/use-params";
import { QueryFault } from "@/ui/fault/query-fault";
import { FilterBar, FilterSelect } from "@/ui/list/filter-bar";
import { LoadMore } from "@/ui/list/load-more";
import { SearchField } from "@/ui/list/search-field";
import { Loading } from "@/ui/loading";
import { PageMessage } from "@/ui/page-message";
import { AccessPage } from "../access-page";
import { AUDIT_AREAS, AUDIT_PERIODS, type AuditFilter, decodeAudit, encodeAudit, periodStart } from "../model/audit";
import { AuditList } from "./audit-list";

/** Who changed what, newest first. */
export function AuditPage() {
  const { t } = useTranslation();
  const admin = useMay("admin");
  const [params, edit] = useParams();
  const filter = decodeAudit(params);
  const [now] = useState(serverNow);
  const log = useInfiniteQuery({
    ...auditQuery({ actor: filter.actor, action: filter.area, startMs: periodStart(filter.period, now) }),
    enabled: admin,
    placeholderData: keepPreviousData,
  });
  const change = (part: Partial<AuditFilter>) =>
    edit((held) => encodeAudit({ ...decodeAudit(held), ...part }, held), true);
  const entries = log.data?.pages.flatMap((page) => page.entries) ?? [];
  return (
    <AccessPage
      id="audit"
      actions={
        <Button size="xs" variant="default" loading={log.isRefetching} onClick={() => void log.refetch()}>
          {t("users.audit.refresh")}
        </Button>
      }
    >
      <FilterBar label={t("users.audit.filters")}>
        <SearchField
          label={t("users.audit.actor")}
          placeholder={t("users.audit.actorHint")}
          value={filter.actor}
          onChange={(actor) => change({ actor: actor.trim() })}
        />
        <FilterSelect
          label={t("users.audit.area")}
          any={t("users.audit.anything")}
          value={AUDIT_AREAS.find((one) => one === filter.area) ?? null}
          values={AUDIT_AREAS}
          name={(area) => t(`users.area_${area}`)}
          onChange={(area) => change({ area: area ?? "" })}
        />
        <FilterSelect
          label={t("users.audit.period")}
          value={filter.period}
          values={AUDIT_PERIODS}
          name={(period) => t(`users.period_${period}`)}
          onChange={(period) => period !== null && change({ period })}
        />
      </FilterBar>
      <QueryFault title={t("users.audit.failed")} query={log} />
      {log.isPending && <Loading height={240} label={t("users.loading")} />}
      {log.data && entries.length === 0 && <PageMessage icon="search" title={t("users.audit.none")} />}
      {entries.length > 0 && <AuditList entries={entries} stale={log.isPlaceholderData} />}
      <LoadMore label={t("users.audit.more")} query={log} />
    </AccessPage>
  );
}
