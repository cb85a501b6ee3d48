import { Popover, TextInput } from "@mantine/core";
import { DatePicker, TimePicker } from "@mantine/dates";
import { useState } from "react";
import { useLocale } from "@/lib/use-locale";
import { IconButton } from "@/ui/icon-button";

interface Props {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** Name of the button that opens the calendar. */
  readonly pickLabel: string;
  readonly timeLabel: string;
  readonly error?: string | null;
  readonly description?: string;
  /** The time that the text means, as "YYYY-MM-DD HH:mm:ss" in the page's zone, or null. */
  readonly wallTime: string | null;
}

/** A time as text, relative or absolute, with a calendar that fills it in. */
export function TimeField(props: Props) {
  const { label, value, onChange, pickLabel, timeLabel, error, description, wallTime } = props;
  const [open, setOpen] = useState(false);
  const locale = useLocale();
  const [day = null, clock = "00:00:00"] = wallTime?.split(" ") ?? [];
  return (
    <TextInput
      label={label}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      error={error}
      {...(description === undefined ? {} : { description })}
      inputWrapperOrder={["label", "input", "error", "description"]}
      size="sm"
      spellCheck={false}
      autoComplete="off"
      rightSectionPointerEvents="all"
      rightSection={
        <Popover opened={open} onChange={setOpen} position="bottom-end" withinPortal={false} trapFocus shadow="md">
          <Popover.Target>
            <IconButton icon="clock" label={pickLabel} size={24} onClick={() => setOpen(!open)} />
          </Popover.Target>
          <Popover.Dropdown p="sm">
            <DatePicker
              value={day}
              locale={locale}
              size="sm"
              {...(day === null ? {} : { defaultDate: day })}
              onChange={(next) => next !== null && onChange(`${next} ${clock.slice(0, 8)}`)}
            />
            <TimePicker
              mt="xs"
              withSeconds
              size="sm"
              aria-label={timeLabel}
              value={clock.slice(0, 8)}
              onChange={(next) =>
                next !== "" && day !== null && onChange(`${day} ${next.length === 5 ? `${next}:00` : next}`)
              }
            />
          </Popover.Dropdown>
        </Popover>
      }
    />
  );
}
