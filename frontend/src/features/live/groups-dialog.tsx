import { Button, Checkbox } from "@mantine/core";
import { type KeyboardEvent, useState } from "react";
import { useTranslation } from "react-i18next";
import type { GroupInfo } from "@/api/types";
import { useFeedState } from "@/panels/feed/feed-context";
import { Buttons, Form } from "@/ui/form/form";
import { Sheet } from "@/ui/form/sheet";
import { IconButton } from "@/ui/icon-button";
import { Hint } from "@/ui/text/text";
import { isAbsent } from "./group-section";
import classes from "./live-page.module.css";
import { type ChosenGroups, moved, PACKS_CHOICE } from "./use-group-choice";

interface Props extends ChosenGroups {
  readonly onClose: () => void;
}

const KEYS: Readonly<Record<string, 1 | -1>> = { ArrowUp: -1, ArrowDown: 1 };

/** Shows, hides and orders the groups of the live page; each change takes effect at once. */
export function GroupsDialog({ groups, order, choice, choose, onClose }: Props) {
  const { t } = useTranslation();
  const [last, setLast] = useState("");
  const { answers } = useFeedState();
  const rows = groups
    .filter((one) => choice.hidden.includes(one.group.id) || !isAbsent(one, answers))
    .map(({ group }) => group);
  const listed = rows.map(({ id }) => id);
  const move = ({ id, title }: GroupInfo, by: 1 | -1) => {
    const place = listed.indexOf(id) + by;
    if (place < 0 || place >= listed.length) return;
    choose({ ...choice, order: moved(order, listed, id, by) });
    setLast(t("live.groupMoved", { group: title, place: place + 1, count: listed.length }));
  };
  const show = (id: string, on: boolean) => {
    const others = choice.hidden.filter((one) => one !== id);
    choose({ ...choice, hidden: on ? others : [...others, id] });
  };
  const onKeyDown = (event: KeyboardEvent, group: GroupInfo) => {
    const by = event.altKey ? KEYS[event.key] : undefined;
    if (by === undefined) return;
    event.preventDefault();
    move(group, by);
  };
  return (
    <Sheet title={t("live.groups")} size="sm" onClose={onClose}>
      <Form onSubmit={onClose}>
        <Hint>{t("live.groupsHint")}</Hint>
        <ol className={classes.choices}>
          {rows.map((group, place) => (
            <li key={group.id} onKeyDown={(event) => onKeyDown(event, group)}>
              <Checkbox
                label={group.title}
                checked={!choice.hidden.includes(group.id)}
                onChange={(event) => show(group.id, event.currentTarget.checked)}
              />
              {/* Not `disabled` at the ends: whoever moves a group there by its button would lose the focus. */}
              <IconButton
                icon="chevronUp"
                label={t("live.groupUp", { group: group.title })}
                aria-disabled={place === 0}
                onClick={() => move(group, -1)}
              />
              <IconButton
                icon="chevronDown"
                label={t("live.groupDown", { group: group.title })}
                aria-disabled={place === rows.length - 1}
                onClick={() => move(group, 1)}
              />
            </li>
          ))}
        </ol>
        <div role="status" className="lw-visually-hidden">
          {last}
        </div>
        <Buttons>
          <Button
            variant="default"
            disabled={choice.order.length + choice.hidden.length === 0}
            onClick={() => choose(PACKS_CHOICE)}
          >
            {t("live.groupsReset")}
          </Button>
          <Button type="submit">{t("action.close")}</Button>
        </Buttons>
      </Form>
    </Sheet>
  );
}
