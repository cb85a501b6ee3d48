import { Button, NativeSelect, Skeleton } from "@mantine/core";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useSearchParams } from "react-router";
import { auditQuery } from "@/api/access/queries";
import { serverNow } from "@/api/server-clock";
import { useMay } from "@/lib/access-scopes";
import { QueryFault } from "@/ui/fault/query-fault";
import { SearchField } from "@/ui/list/search-field";
import { PageMessage } from "@/ui/page-message";
import classes from "../access.module.css";
import { AccessPage } from "../access-page";
import { AUDIT_AREAS, AUDIT_PERIODS, type AuditFilter, decodeAudit, encodeAudit, periodStart } from "../model/audit";
import { AuditList } from "./audit-list";

/** Who changed what, newest first. */
export function AuditPage() {
  const { t } = useTranslation();
  const admin = useMay("admin");
  const [params, setParams] = useSearchParams();
  const filter = decodeAudit(params);
  const [now] = useState(serverNow);
  const log = useInfiniteQuery({
    ...auditQuery({ actor: filter.actor, action: filter.area, startMs: periodStart(filter.period, now) }),
    enabled: admin,
    placeholderData: keepPreviousData,
  });
  const change = (part: Partial<AuditFilter>) =>
    setParams((held) => encodeAudit({ ...decodeAudit(held), ...part }, held), { replace: true });
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
      <search className={classes.tools} aria-label={t("users.audit.filters")}>
        <SearchField
          label={t("users.audit.actor")}
          placeholder={t("users.audit.actorHint")}
          value={filter.actor}
          onChange={(actor) => change({ actor: actor.trim() })}
        />
        <NativeSelect
          size="sm"
          aria-label={t("users.audit.area")}
          value={filter.area}
          onChange={(event) => change({ area: event.currentTarget.value })}
          data={[
            { value: "", label: t("users.audit.anything") },
            ...AUDIT_AREAS.map((value) => ({ value, label: t(`users.area_${value}`) })),
          ]}
        />
        <NativeSelect
          size="sm"
          aria-label={t("users.audit.period")}
          value={filter.period}
          onChange={(event) => {
            const period = AUDIT_PERIODS.find((one) => one === event.currentTarget.value);
            if (period !== undefined) change({ period });
          }}
          data={AUDIT_PERIODS.map((value) => ({ value, label: t(`users.period_${value}`) }))}
        />
      </search>
      <QueryFault title={t("users.audit.failed")} query={log} />
      {log.isPending && (
        <Skeleton height={240} radius={6} animate={false} role="status" aria-label={t("users.loading")} />
      )}
      {log.data && entries.length === 0 && <PageMessage icon="search" title={t("users.audit.none")} />}
      {entries.length > 0 && <AuditList entries={entries} stale={log.isPlaceholderData} />}
      {log.hasNextPage && (
        <div className={classes.more}>
          <Button variant="default" size="xs" loading={log.isFetchingNextPage} onClick={() => void log.fetchNextPage()}>
            {t("users.audit.more")}
          </Button>
        </div>
      )}
    </AccessPage>
  );
}
