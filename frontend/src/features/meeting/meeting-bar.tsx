import { Button, NativeSelect } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { useTranslation } from "react-i18next";
import { Icon } from "@/ui/icon";
import classes from "./meeting.module.css";

interface Props {
  /** Of the runs, in the order of the meeting; the end of the meeting follows them. */
  readonly titles: readonly string[];
  readonly index: number;
  readonly onShow: (index: number) => void;
}

/** Back, on, and where the meeting stands; every screen can be reached from here. */
export function MeetingBar({ titles, index, onShow }: Props) {
  const { t } = useTranslation();
  const count = titles.length;
  const narrow = useMediaQuery("(max-width: 760px)", false, { getInitialValueInEffect: false });
  return (
    <nav className={classes.bar} aria-label={t("meeting.screens")}>
      <Button
        size={narrow ? "sm" : "lg"}
        variant="default"
        disabled={index === 0}
        leftSection={<Icon name="chevronLeft" />}
        onClick={() => onShow(index - 1)}
      >
        {t("meeting.previous")}
      </Button>
      <div className={classes.progress}>
        <span className={classes.count}>
          {index >= count ? t("meeting.summary") : t("meeting.progress", { place: index + 1, count })}
        </span>
        <NativeSelect
          size="sm"
          aria-label={t("meeting.jump")}
          value={String(index)}
          onChange={(event) => onShow(Number(event.currentTarget.value))}
          data={[...titles, t("meeting.summary")].map((title, place) => ({
            value: String(place),
            label: place < count ? `${place + 1} · ${title}` : title,
          }))}
        />
      </div>
      <Button
        size={narrow ? "sm" : "lg"}
        disabled={index >= count}
        rightSection={<Icon name="chevronRight" />}
        onClick={() => onShow(index + 1)}
      >
        {index === count - 1 ? t("meeting.toEnd") : t("meeting.next")}
      </Button>
    </nav>
  );
}
