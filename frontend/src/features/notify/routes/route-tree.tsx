import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import type { Route } from "@/api/notify/types";
import { useTimes } from "@/lib/time/use-times";
import { Icon } from "@/ui/icon";
import { Dim } from "@/ui/text/text";
import { MatcherChips } from "../matcher-chips";
import type { Lit } from "../model/routes";
import classes from "./route-tree.module.css";

interface Props {
  readonly root: Route;
  readonly lit: ReadonlyMap<string, Lit>;
  /** Receivers that nobody is told by. */
  readonly silent: ReadonlySet<string>;
}

/** The routes as nested lists, joined by lines; an alert takes the first branch that fits, from the top down. */
export function RouteTree({ root, lit, silent }: Props) {
  const { t } = useTranslation();
  return (
    <ul aria-label={t("notify.routes.tree")} data-asked={lit.size > 0}>
      <RouteNode route={root} isRoot lit={lit} silent={silent} />
    </ul>
  );
}

interface NodeProps extends Omit<Props, "root"> {
  readonly route: Route;
  readonly isRoot?: boolean;
}

function RouteNode({ route, isRoot = false, lit, silent }: NodeProps) {
  const { t } = useTranslation();
  const state = lit.get(route.id) ?? "none";
  return (
    <li className={classes.branch} data-root={isRoot} data-lit={state}>
      <div className={classes.node} data-lit={state} data-route={route.id}>
        <div className={classes.line}>
          {route.matchers.length > 0 ? (
            <MatcherChips matchers={route.matchers} />
          ) : (
            <span className={classes.all}>{t(isRoot ? "notify.routes.everything" : "notify.routes.rest")}</span>
          )}
          {state === "match" && (
            <span className={classes.takes}>
              <Icon name="check" size={12} />
              {t("notify.routes.takes")}
            </span>
          )}
          {state === "path" && <span className={classes.passes}>{t("notify.routes.passes")}</span>}
        </div>
        <p className={classes.receiver}>
          <Icon name={silent.has(route.receiver) ? "bellOff" : "send"} size={13} />
          <Link to={`/alerts/receivers#${encodeURIComponent(route.receiver)}`}>{route.receiver}</Link>
          {silent.has(route.receiver) && <Dim>{t("notify.pageOnly")}</Dim>}
          {route.groups > 0 && (
            <span className={classes.firing}>{t("notify.routes.groups", { groups: route.groups })}</span>
          )}
        </p>
        <RouteWords route={route} />
      </div>
      {route.routes.length > 0 && (
        <ul className={classes.children}>
          {route.routes.map((child) => (
            <RouteNode key={child.id} route={child} lit={lit} silent={silent} />
          ))}
        </ul>
      )}
    </li>
  );
}

/** How a route groups and waits, in words. */
function RouteWords({ route }: { route: Route }) {
  const { t } = useTranslation();
  const { span } = useTimes();
  const grouped =
    route.group_by.length === 0
      ? t("notify.routes.groupNone")
      : route.group_by.includes("...")
        ? t("notify.routes.groupAll")
        : t("notify.routes.groupBy", { labels: route.group_by.join(", ") });
  return (
    <>
      <p className={classes.words}>
        {grouped}{" "}
        {t(route.group_wait_seconds === 0 ? "notify.routes.waitsNot" : "notify.routes.waits", {
          wait: span(route.group_wait_seconds * 1000),
          interval: span(route.group_interval_seconds * 1000),
          repeat: span(route.repeat_interval_seconds * 1000),
        })}
      </p>
      {route.continues && <p className={classes.words}>{t("notify.routes.continues")}</p>}
      {route.mute_time_intervals.length > 0 && (
        <p className={classes.words}>{t("notify.routes.mutedIn", { names: route.mute_time_intervals.join(", ") })}</p>
      )}
      {route.active_time_intervals.length > 0 && (
        <p className={classes.words}>
          {t("notify.routes.activeIn", { names: route.active_time_intervals.join(", ") })}
        </p>
      )}
      {route.muted_now && (
        <p className={classes.muted}>
          <Icon name="bellOff" size={13} />
          {t("notify.routes.mutedNow")}
        </p>
      )}
    </>
  );
}
