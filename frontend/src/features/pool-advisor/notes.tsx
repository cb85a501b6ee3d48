import { useTranslation } from "react-i18next";
import type { PoolNote } from "@/api/pools/types";
import { useWords } from "@/panels/findings/words";
import { CommandLine } from "@/ui/command-line";
import { StateMark, type Tone } from "@/ui/state-mark";
import classes from "./pool-advisor.module.css";

const TONES: Readonly<Record<PoolNote["weight"], Tone>> = { wrong: "bad", unknown: "unknown", info: "ok" };

/** What is to be changed, what cannot be told, and what is worth knowing. */
export function Notes({ notes }: { notes: readonly PoolNote[] }) {
  const { t } = useTranslation();
  const words = useWords();
  if (notes.length === 0) return null;
  return (
    <ul className={classes.notes}>
      {notes.map((note) => (
        <li key={note.id} className={classes.note} data-weight={note.weight}>
          <StateMark tone={TONES[note.weight]} label={t(`pools.weight_${note.weight}`)} />
          <p>{words(note.text)}</p>
          {note.config !== "" && <CommandLine text={note.config} />}
        </li>
      ))}
    </ul>
  );
}
