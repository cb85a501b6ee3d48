import { NativeSelect } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { PoolAdvice, PoolServer } from "@/api/pools/types";
import { formatDuration } from "@/lib/time/time";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { Section } from "@/ui/page/section";
import { Disclosure } from "@/ui/text/disclosure";
import { Fact, Facts } from "@/ui/text/facts";
import { ConnectionBar } from "./connection-bar";
import { barsOf } from "./model/bars";
import { Notes } from "./notes";
import classes from "./pool-advisor.module.css";

interface Props {
  readonly advice: PoolAdvice;
  readonly onServer: (instance: string) => void;
}

/** Who shares the connections of the database, now and as advised. */
export function DatabaseSection({ advice, onServer }: Props) {
  const { t } = useTranslation();
  const { server, servers } = advice;
  const bars = barsOf(advice);
  return (
    <Section
      title={t("pools.database")}
      {...(server !== null && {
        aside: t("pools.server", { instance: server.instance, limit: server.max_connections }),
      })}
    >
      {servers.length > 1 && (
        <NativeSelect
          size="sm"
          className={classes.server ?? ""}
          label={t("pools.which")}
          value={server?.instance ?? ""}
          data={[{ value: "", label: t("pools.choose") }, ...servers]}
          onChange={(event) => onServer(event.currentTarget.value)}
        />
      )}
      <Notes notes={advice.notes} />
      {server !== null && <Shares server={server} advice={advice} />}
      {bars.length > 0 && (
        <div className={classes.bars}>
          {bars.map((bar) => (
            <ConnectionBar key={bar.id} bar={bar} />
          ))}
        </div>
      )}
      {server !== null && server.users.length > 0 && (
        <Disclosure summary={t("pools.users")}>
          <ul className={classes.users}>
            {server.users.map(({ user, connections }) => (
              <li key={user}>
                <code>{user}</code> {connections}
              </li>
            ))}
          </ul>
        </Disclosure>
      )}
    </Section>
  );
}

function Shares({ server, advice }: { server: PoolServer; advice: PoolAdvice }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const count = (value: number) => formatValue(Math.round(value), "count", locale);
  return (
    <Facts>
      <Fact name={t("pools.limit")}>{count(server.max_connections)}</Fact>
      <Fact name={t("pools.others")}>{server.others === null ? "–" : count(server.others)}</Fact>
      <Fact name={t("pools.reserve")}>{count(advice.reserve)}</Fact>
      {advice.room !== null && <Fact name={t("pools.room")}>{count(advice.room)}</Fact>}
      {server.wait_timeout_seconds !== null && (
        <Fact name={t("pools.waitTimeout")}>{formatDuration(server.wait_timeout_seconds * 1000, locale)}</Fact>
      )}
    </Facts>
  );
}
