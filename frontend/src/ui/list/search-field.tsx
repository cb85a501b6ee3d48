import { TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { useEffect, useRef, useState } from "react";
import { Icon } from "@/ui/icon";
import classes from "./search-field.module.css";

interface Props {
  readonly value: string;
  readonly label: string;
  readonly placeholder?: string;
  readonly onChange: (value: string) => void;
}

/** Typing asks when it pauses; an address that changes elsewhere shows in the field. `/` comes here, see useListKeys. */
export function SearchField({ value, label, placeholder = label, onChange }: Props) {
  const [text, setText] = useState(value);
  const asked = useRef(value);
  const field = useRef<HTMLInputElement>(null);
  const ask = useDebouncedCallback((next: string) => {
    asked.current = next;
    onChange(next);
  }, 250);
  useEffect(() => {
    // While somebody types, the address only follows, and late: it must not take letters back.
    if (value === asked.current || document.activeElement === field.current) return;
    asked.current = value;
    setText(value);
  }, [value]);
  return (
    <TextInput
      ref={field}
      className={classes.search ?? ""}
      size="sm"
      type="search"
      data-list-search=""
      aria-label={label}
      placeholder={placeholder}
      leftSection={<Icon name="search" size={14} />}
      value={text}
      maxLength={200}
      onChange={(event) => {
        setText(event.currentTarget.value);
        ask(event.currentTarget.value);
      }}
    />
  );
}
