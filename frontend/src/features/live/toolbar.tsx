import { Button } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { serverNow } from "@/api/server-clock";
import type { Note } from "@/api/types";
import type { Range } from "@/lib/time/time";
import { NoteLane } from "@/panels/notes/note-lane";
import type { NotesHandle } from "@/panels/notes/notes-layer";
import { Icon } from "@/ui/icon";
import { FilterMenu } from "./filter-menu";
import classes from "./live-page.module.css";

interface Props {
  readonly folded: number;
  readonly hidden: number;
  readonly notes: readonly Note[];
  readonly range: Range;
  readonly handle: NotesHandle | null;
  readonly onFoldAll: (folded: boolean) => void;
  readonly onGroups: () => void;
}

/** Filters, the lane of annotations, the choice of groups, and folding. It stays under the header while the charts scroll. */
export function Toolbar({ folded, hidden, notes, range, handle, onFoldAll, onGroups }: Props) {
  const { t } = useTranslation();
  return (
    <div className={classes.toolbar}>
      <FilterMenu />
      <NoteLane
        notes={notes}
        range={range}
        onDraw={(startMs, endMs) => handle?.add(startMs, endMs)}
        onOpen={(note) => handle?.edit(note)}
      />
      <Button.Group>
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<Icon name="plus" size={13} />}
          onClick={() => handle?.add(serverNow(), null)}
        >
          {t("note.add")}
        </Button>
        <Button
          size="compact-sm"
          variant="default"
          aria-label={`${t("note.title")}: ${notes.length}`}
          onClick={() => handle?.list()}
        >
          {notes.length}
        </Button>
      </Button.Group>
      <Button
        className={classes.groups ?? ""}
        size="compact-sm"
        variant={hidden > 0 ? "light" : "default"}
        aria-haspopup="dialog"
        onClick={onGroups}
      >
        {hidden > 0 ? t("live.groupsHidden", { count: hidden }) : t("live.groups")}
      </Button>
      <Button
        className={classes.foldAll ?? ""}
        size="compact-sm"
        variant="default"
        onClick={() => onFoldAll(folded === 0)}
      >
        {folded === 0 ? t("live.foldAll") : t("live.unfoldAll")}
      </Button>
    </div>
  );
}
