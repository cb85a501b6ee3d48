import { useTranslation } from "react-i18next";
import type { PoolSetting } from "@/api/pools/types";
import { useWords } from "@/panels/findings/words";
import { Disclosure } from "@/ui/text/disclosure";
import { Dim } from "@/ui/text/text";
import classes from "./pool-advisor.module.css";
import { useSettingText } from "./setting-text";

/** One setting: what it should be, what it is, and how that comes about. */
export function SettingCard({ setting }: { setting: PoolSetting }) {
  const { t } = useTranslation();
  const words = useWords();
  const text = useSettingText();
  const { name, now, advised } = setting;
  const same = advised !== null && now.length === 1 && now[0] === advised;
  const today = now.length === 0 ? t("pools.unknown") : now.map((value) => text(name, value)).join(", ");
  return (
    <li className={classes.setting} data-same={same}>
      <h3>
        <code>{t(`pools.setting_${name}`)}</code>
      </h3>
      <p className={classes.value}>
        <strong>{advised === null ? t("pools.none") : text(name, advised)}</strong>{" "}
        <Dim>{same ? t("pools.right") : t("pools.notSet", { now: today })}</Dim>
      </p>
      {advised === null ? (
        <p className={classes.formula}>{words(setting.formula)}</p>
      ) : (
        <Disclosure summary={t("pools.formula")}>
          <p className={classes.formula}>{words(setting.formula)}</p>
          <p className={classes.formula}>
            <Source source={setting.source} />
          </p>
        </Disclosure>
      )}
    </li>
  );
}

function Source({ source }: { source: string }) {
  const { t } = useTranslation();
  if (!source.startsWith("https://")) return <Dim>{t("pools.source", { source })}</Dim>;
  return (
    <a href={source} target="_blank" rel="noreferrer">
      {t("pools.source", { source: source.replace("https://", "") })}
    </a>
  );
}
