import { useId } from "react";
import { useTranslation } from "react-i18next";
import type { PoolGroup } from "@/api/pools/types";
import { CommandLine } from "@/ui/command-line";
import { Section } from "@/ui/page/section";
import { Dim } from "@/ui/text/text";
import { MemberTable } from "./member-table";
import { Notes } from "./notes";
import classes from "./pool-advisor.module.css";
import { SettingCard } from "./setting-card";

const FEWEST_TICKS = 20;
const MOST_INSTANCES = 999;

interface Props {
  readonly group: PoolGroup;
  /** As the slider stands; the advice follows. */
  readonly instances: number;
  readonly onInstances: (count: number) => void;
}

/** The pools of one name of all instances: what to set, what if there were more of them, and what each did. */
export function GroupSection({ group, instances, onInstances }: Props) {
  const { t } = useTranslation();
  return (
    <Section title={`${group.job} / ${group.pool}`} aside={t("pools.seen", { count: group.seen })}>
      <Notes notes={group.notes} />
      {group.wanted !== null && <Slider group={group} instances={instances} onInstances={onInstances} />}
      <ul className={classes.settings}>
        {group.settings.map((setting) => (
          <SettingCard key={setting.name} setting={setting} />
        ))}
      </ul>
      {group.code !== "" && (
        <>
          <h3 className={classes.heading}>{t("pools.code")}</h3>
          <CommandLine text={group.code} />
        </>
      )}
      <h3 className={classes.heading}>{t("pools.members")}</h3>
      <MemberTable group={group} />
    </Section>
  );
}

function Slider({ group, instances, onInstances }: Props) {
  const { t } = useTranslation();
  const id = useId();
  const most = Math.min(Math.max(group.seen * 3, FEWEST_TICKS, instances), MOST_INSTANCES);
  return (
    <div className={classes.slider}>
      <label htmlFor={id}>{t("pools.what", { count: instances })}</label>
      <input
        id={id}
        type="range"
        min={1}
        max={most}
        value={instances}
        onChange={(event) => onInstances(event.currentTarget.valueAsNumber)}
      />
      {group.most_instances !== null && (
        <Dim>{t("pools.fits", { each: group.wanted, count: group.most_instances })}</Dim>
      )}
    </div>
  );
}
