import { Combobox, TextInput, useCombobox } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import type { TFunction } from "i18next";
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { runFacetsQuery } from "@/api/runs/queries";
import { Icon } from "@/ui/icon";
import { Dim } from "@/ui/text/text";
import { completed, isPlain, suggestions, tokenAt } from "./filter-text";
import classes from "./runs-page.module.css";

interface Props {
  readonly value: string;
  /** What the server says of a filter that it cannot read. */
  readonly problem: string | null;
  /** Ids of findings that runs in sight have. */
  readonly limits: readonly string[];
  readonly onChange: (where: string) => void;
}

/**
 * The filter as text, with keys and values to choose from. Words are looked for as they are typed; a term with a key or
 * a comparison when it is whole: by Enter, a choice, a space behind it, or leaving the field.
 */
export function RunFilter({ value, problem, limits, onChange }: Props) {
  const { t } = useTranslation();
  const [text, setText] = useState(value);
  const [caret, setCaret] = useState(value.length);
  const field = useRef<HTMLInputElement>(null);
  const asked = useRef(value);
  const place = useRef<number | null>(null);
  const box = useCombobox({ onDropdownClose: () => box.resetSelectedOption() });
  const facets = useQuery({ ...runFacetsQuery, refetchInterval: 60_000 });
  const token = tokenAt(text, caret);
  const offered = suggestions(token, facets.data, limits);
  const later = useDebouncedCallback((next: string) => ask(next), 250);
  const ask = (next: string) => {
    if (next.trim() === asked.current.trim()) return;
    asked.current = next;
    onChange(next);
  };
  useEffect(() => {
    // While somebody types, the address only follows, and late: it must not take letters back.
    if (value.trim() === asked.current.trim() || document.activeElement === field.current) return;
    asked.current = value;
    setText(value);
  }, [value]);
  useLayoutEffect(() => {
    if (place.current === null) return;
    field.current?.setSelectionRange(place.current, place.current);
    place.current = null;
  });
  const read = (input: HTMLInputElement) => setCaret(input.selectionStart ?? input.value.length);
  const type = (input: HTMLInputElement) => {
    setText(input.value);
    read(input);
    box.openDropdown();
    box.resetSelectedOption();
    if (isPlain(tokenAt(input.value, input.selectionStart ?? input.value.length))) later(input.value);
    else later.cancel();
  };
  const pick = (chosen: string) => {
    const found = offered.find((one) => one.text === chosen);
    if (found === undefined) return;
    const next = completed(text, token, found);
    setText(next.text);
    setCaret(next.caret);
    place.current = next.caret;
    box.resetSelectedOption();
    if (found.isWhole) ask(next.text);
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === "Enter" && !(box.dropdownOpened && box.getSelectedOptionIndex() >= 0)) {
      later.cancel();
      ask(text);
      box.closeDropdown();
    }
  };
  return (
    <Combobox store={box} onOptionSubmit={pick} position="bottom-start" width={320} shadow="md">
      <Combobox.Target withExpandedAttribute>
        <TextInput
          ref={field}
          role="combobox"
          className={classes.filter ?? ""}
          size="sm"
          data-list-search=""
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          aria-label={t("runs.filter")}
          placeholder={t("runs.filterExample")}
          leftSection={<Icon name="filter" size={14} />}
          error={problem}
          value={text}
          maxLength={1000}
          onChange={(event) => type(event.currentTarget)}
          onSelect={(event) => read(event.currentTarget)}
          onClick={() => box.openDropdown()}
          onKeyDown={press}
          onBlur={() => {
            box.closeDropdown();
            later.cancel();
            ask(text);
          }}
        />
      </Combobox.Target>
      <Combobox.Dropdown hidden={offered.length === 0}>
        <Combobox.Options aria-label={t("runs.filter")}>
          {offered.map((one) => (
            <Combobox.Option key={one.text} value={one.text} className={classes.offer ?? ""}>
              <code>{one.text}</code> <Dim>{one.count ?? hint(one.text, t)}</Dim>
            </Combobox.Option>
          ))}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  );
}

const HINTS = ["since", "until", "commit", "id", "name", "limit"] as const;

/** What a key takes where that is not what it says. */
function hint(text: string, t: TFunction): string {
  const key = HINTS.find((one) => text === `${one}:`);
  return key === undefined ? "" : t(`runs.filterHint_${key}`);
}
