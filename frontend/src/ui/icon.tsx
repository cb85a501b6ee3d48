/** Stroke icons on a grid of 16, drawn here so that the page loads no font and no sprite. */
const PATHS = {
  pulse: "M1.5 8.5h3l2-5 3 9 2-4h3",
  target: "M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8ZM8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6Z",
  play: "M4.5 3v10l8-5-8-5Z",
  pause: "M5 3v10M11 3v10",
  chevronUp: "m4 10 4-4 4 4",
  chevronDown: "m4 6 4 4 4-4",
  chevronRight: "m6 4 4 4-4 4",
  chevronLeft: "m10 4-4 4 4 4",
  undo: "M3 6.5h6.5a3.5 3.5 0 0 1 0 7H6M3 6.5 6 3.5M3 6.5l3 3",
  zoomOut: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9ZM10.4 10.4l3.6 3.6M5 7h4",
  menu: "M2.5 4h11M2.5 8h11M2.5 12h11",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9ZM10.4 10.4l3.6 3.6",
  note: "M3 2.5h10v8l-3 3H3zM10 13.5v-3h3M5.5 5.5h5M5.5 8h3",
  plus: "M8 3v10M3 8h10",
  close: "m4 4 8 8M12 4l-8 8",
  edit: "M3 13l.6-2.8L10.8 3l2.2 2.2-7.2 7.2L3 13ZM9.4 4.4l2.2 2.2",
  trash: "M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.6 9h5.8l.6-9M7 7v4M9 7v4",
  filter: "M2.5 3.5h11L9.5 8.5v4l-3 1v-5z",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  download: "M8 2.5v7.5M5 7l3 3 3-3M3 13.5h10",
  image: "M2.5 3h11v10h-11zM2.5 11l3.5-3.5 2.5 2.5 1.5-1.5 3.5 3.5M10.5 6h.01",
  expand: "M9.5 2.5h4v4M6.5 13.5h-4v-4M13.5 2.5l-4.5 4.5M2.5 13.5 7 9",
  instances: "M2.5 2.5h4.5v4.5h-4.5zM9 2.5h4.5v4.5H9zM2.5 9h4.5v4.5h-4.5zM9 9h4.5v4.5H9z",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  info: "M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8ZM8 7.3v3.9M8 4.9h.01",
  check: "m3 8.5 3.2 3.2L13 4.8",
  warning: "M8 2 14.3 13.2H1.7zM8 6.3v3.2M8 11.5h.01",
  stop: "M5.4 1.8h5.2l3.6 3.6v5.2l-3.6 3.6H5.4l-3.6-3.6V5.4zM8 4.8v3.8M8 11h.01",
  unknown:
    "M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8ZM6.2 6.2a1.9 1.9 0 1 1 2.6 1.8c-.6.2-.8.6-.8 1.2M8 11.4h.01",
  unclear: "M5.5 6a2.5 2.5 0 1 1 3.6 2.2c-.8.4-1.1.9-1.1 1.8M8 12.5h.01",
  same: "M2.5 6c1.8-2 3.7-2 5.5-.5s3.7 1.5 5.5-.5M2.5 11c1.8-2 3.7-2 5.5-.5s3.7 1.5 5.5-.5",
  unequal: "M2.5 6h11M2.5 10h11M10.5 2.5l-5 11",
  clock: "M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8ZM8 4.5V8l2.3 1.8",
  globe:
    "M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8ZM1.8 8h12.4M8 1.8c3.6 3.4 3.6 9 0 12.4M8 1.8c-3.6 3.4-3.6 9 0 12.4",
  sun: "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6ZM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1.1 1.1M11.9 11.9 13 13M13 3l-1.1 1.1M4.1 11.9 3 13",
  moon: "M13.2 9.6A5.8 5.8 0 0 1 6.4 2.8a5.8 5.8 0 1 0 6.8 6.8Z",
  auto: "M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8ZM8 1.8v12.4M10.5 3v10M12.5 5v6",
  keyboard: "M1.8 4h12.4v8H1.8zM4.2 6.5h.01M6.7 6.5h.01M9.2 6.5h.01M11.7 6.5h.01M5 9.5h6",
  signOut: "M6.5 2.5h-4v11h4M10 5l3 3-3 3M13 8H6",
  link: "M6.5 9.5l3-3M7 4.5 8.8 2.7a2.9 2.9 0 0 1 4.1 4.1L11.2 8.6M9 11.5l-1.8 1.8a2.9 2.9 0 0 1-4.1-4.1L4.8 7.4",
  pin: "M5.5 2.5h5l-.8 5 2.3 2.5H4l2.3-2.5zM8 10v4",
  upload: "M8 10V2.5M5 5.5l3-3 3 3M3 13.5h10",
  share:
    "M11.5 5.5a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6ZM4.5 9.8a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6ZM11.5 14.1a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6ZM6.1 7.1l3.8-2.3M6.1 8.9l3.8 2.3",
  compare: "M2.5 12.5l3.5-5 3 3 4.5-7M2.5 8.5l3.5-4 3 2 4.5-3",
  people:
    "M6 7.5a2.4 2.4 0 1 0 0-4.8 2.4 2.4 0 0 0 0 4.8ZM1.8 13.3c0-2.3 1.8-3.8 4.2-3.8s4.2 1.5 4.2 3.8M10.8 7.3a2 2 0 1 0-.6-3.9M12 9.7c1.4.5 2.2 1.7 2.2 3.3",
  bell: "M8 2a3.8 3.8 0 0 0-3.8 3.8c0 3.4-1.4 4.4-1.4 5.4h10.4c0-1-1.4-2-1.4-5.4A3.8 3.8 0 0 0 8 2ZM6.5 13.5a1.6 1.6 0 0 0 3 0",
  bellOff:
    "M4.2 5.8c0 3.4-1.4 4.4-1.4 5.4h8.4M6 2.6a3.8 3.8 0 0 1 5.8 3.2c0 1.5.3 2.6.6 3.4M6.5 13.5a1.6 1.6 0 0 0 3 0M2 2l12 12",
  key: "M10.3 2.2a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7ZM7.8 8.2 2.5 13.5M4.5 11.5l1.8 1.8M10.8 5.2h.01",
  send: "M14 2 7.2 8.8M14 2 9.6 14l-2.4-5.2L2 6.4z",
  route:
    "M4 2.2a1.6 1.6 0 1 0 0 3.2 1.6 1.6 0 0 0 0-3.2ZM12 10.6a1.6 1.6 0 1 0 0 3.2 1.6 1.6 0 0 0 0-3.2ZM4 5.4v3.8a3 3 0 0 0 3 3h3.4M4 7.5h8",
  shield: "M8 1.8 13 3.6v4.2c0 3-2 5.2-5 6.4-3-1.2-5-3.4-5-6.4V3.6z",
  trend: "M2.5 2.5v11h11M4.5 10.5l3-3.5 2 2 4-5",
  sweep: "M2.5 13.5h11M4.5 11V8M8 11V4M11.5 11V6",
  offline:
    "M2 2l12 12M2 6.2a9 9 0 0 1 3-2M14 6.2a9 9 0 0 0-6-2.4M4.5 9a5 5 0 0 1 2.6-1.5M11.5 9a5 5 0 0 0-1-.8M8 12.3h.01",
} as const;

export type IconName = keyof typeof PATHS;

/** Decorative: the text beside it, or the label of the button around it, carries the meaning. */
export function Icon({ name, size = 16, className }: { name: IconName; size?: number; className?: string }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth={name === "more" ? 2.2 : 1.5}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
      {...(className === undefined ? {} : { className })}
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
