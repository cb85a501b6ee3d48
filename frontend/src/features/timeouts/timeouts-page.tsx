import { NativeSelect } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { useSearchParams } from "react-router";
import { timeoutsQuery } from "@/api/timeouts/queries";
import { useLocale } from "@/lib/use-locale";
import { QueryFault } from "@/ui/fault/query-fault";
import { Loading } from "@/ui/loading";
import { usePageTitle } from "@/ui/page/use-page-title";
import { Hint } from "@/ui/text/text";
import { Checks } from "./checks";
import { Ladder } from "./ladder";
import { buildLadder } from "./model/ladder";
import { NoTimeouts } from "./no-timeouts";
import classes from "./timeouts.module.css";

const REFRESH_MS = 10_000;

/** Which layer of a request's path gives up when, and where that order does harm. */
export function TimeoutsPage() {
  const { t } = useTranslation();
  const timeouts = useQuery({ ...timeoutsQuery(useLocale()), refetchInterval: REFRESH_MS });
  const [params, setParams] = useSearchParams();
  usePageTitle(t("timeouts.title"));
  const ladders = timeouts.data?.ladders ?? [];
  const ladder = ladders.find((one) => one.job === params.get("job")) ?? ladders[0];
  const choose = (job: string) =>
    setParams(
      (held) => {
        const next = new URLSearchParams(held);
        next.set("job", job);
        return next;
      },
      { replace: true, preventScrollReset: true },
    );
  return (
    <>
      <div className={classes.top}>
        <div>
          <h1 className={classes.title}>{t("timeouts.title")}</h1>
          <Hint>{t("timeouts.lead")}</Hint>
        </div>
        {ladders.length > 1 && (
          <NativeSelect
            size="sm"
            label={t("timeouts.path")}
            value={ladder?.job ?? ""}
            onChange={(event) => choose(event.currentTarget.value)}
            data={ladders.map(({ job }) => ({ value: job, label: job === "" ? t("timeouts.discovered") : job }))}
          />
        )}
      </div>
      <QueryFault title={t("timeouts.failed")} query={timeouts} />
      {timeouts.isPending && <Loading height={420} label={t("timeouts.loading")} />}
      {timeouts.data !== undefined && ladder === undefined && <NoTimeouts />}
      {ladder !== undefined && <View key={ladder.job} ladder={ladder} />}
    </>
  );
}

function View({ ladder }: { ladder: Parameters<typeof buildLadder>[0] }) {
  const { t } = useTranslation();
  const view = buildLadder(ladder);
  return (
    <>
      {ladder.direct && <Hint>{t("timeouts.direct")}</Hint>}
      <Ladder view={view} />
      <Checks ladder={ladder} view={view} />
    </>
  );
}
