import { ActionIcon, type ActionIconProps, Tooltip } from "@mantine/core";
import type { ComponentProps } from "react";
import { Icon, type IconName } from "@/ui/icon";
import classes from "@/ui/icon-button.module.css";

interface Props extends ActionIconProps, Omit<ComponentProps<"button">, keyof ActionIconProps> {
  readonly icon: IconName;
  readonly label: string;
  /** Shown after the label in the tooltip, such as a key. */
  readonly hint?: string;
}

/** A button that is only an icon; its label is its name for everyone who cannot see the icon. */
export function IconButton({ icon, label, hint, size = 28, variant = "subtle", className, ...rest }: Props) {
  return (
    <Tooltip
      label={hint === undefined ? label : `${label} (${hint})`}
      openDelay={400}
      withinPortal={false}
      zIndex={200}
    >
      <ActionIcon
        aria-label={label}
        size={size}
        variant={variant}
        color="gray"
        className={`${classes.button} ${className ?? ""}`}
        {...rest}
      >
        <Icon name={icon} />
      </ActionIcon>
    </Tooltip>
  );
}
