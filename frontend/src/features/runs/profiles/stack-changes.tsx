import { useTranslation } from "react-i18next";
import type { ProfileStacks, ProfileView } from "@/api/profiles/types";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { Table } from "@/ui/list/table";
import { Section } from "@/ui/page/section";
import { Disclosure } from "@/ui/text/disclosure";
import { Hint } from "@/ui/text/text";
import pageClasses from "../page/run-page.module.css";
import { formatOf } from "./model";
import classes from "./profiles.module.css";

/** Stacks that only one side has. */
export function StackChanges({ view }: { view: ProfileView }) {
  const { t } = useTranslation();
  return (
    <Section title={t("profiles.changes")}>
      {view.new && (
        <Stacks
          stacks={view.new}
          view={view}
          title={t("profiles.newStacks", { count: view.new.count })}
          none={t("profiles.noNew")}
        />
      )}
      {view.gone && (
        <Stacks
          stacks={view.gone}
          view={view}
          title={t("profiles.goneStacks", { count: view.gone.count })}
          none={t("profiles.noGone")}
        />
      )}
    </Section>
  );
}

interface StacksProps {
  readonly stacks: ProfileStacks;
  readonly view: ProfileView;
  readonly title: string;
  readonly none: string;
}

function Stacks({ stacks, view, title, none }: StacksProps) {
  const { t } = useTranslation();
  const format = formatOf(view.type.unit, useLocale());
  return (
    <>
      {stacks.count === 0 ? (
        <Hint>{none}</Hint>
      ) : (
        <Disclosure summary={title} opened={stacks.count <= 5}>
          <ul className={classes.stacks}>
            {stacks.stacks.map((stack) => (
              <li key={stack.functions.join("\n")} className={classes.stack}>
                <strong>{format(stack.value)}</strong>
                <span className={classes.frames}>{stack.functions.join(" ← ")}</span>
              </li>
            ))}
          </ul>
        </Disclosure>
      )}
      {stacks.smaller > 0 && <Hint>{t("profiles.smaller", { count: stacks.smaller })}</Hint>}
    </>
  );
}

/** The same profile by what the application says of its samples, such as their route. */
export function LabelTables({ view }: { view: ProfileView }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const format = formatOf(view.type.unit, locale);
  const share = (value: number) => formatValue(view.total ? value / view.total : 0, "ratio", locale);
  return (
    <>
      {view.labels.map((label) => (
        <Section key={label.key} title={t("profiles.labels", { key: label.key })} aside={t("profiles.labelsHint")}>
          <Table label={t("profiles.labels", { key: label.key })} bare className={pageClasses.table}>
            <thead>
              <tr>
                <th scope="col">{label.key}</th>
                <th scope="col" data-number>
                  {t("profiles.total")}
                </th>
                <th scope="col" data-number>
                  {t("profiles.share")}
                </th>
              </tr>
            </thead>
            <tbody>
              {[...label.values, { text: "", value: label.without }].map((one) => (
                <tr key={one.text}>
                  <th scope="row" className={classes.name}>
                    {one.text || t("profiles.unlabelled")}
                  </th>
                  <td data-number>{format(one.value)}</td>
                  <td data-number>{share(one.value)}</td>
                </tr>
              ))}
            </tbody>
          </Table>
        </Section>
      ))}
    </>
  );
}
