import { type ReactNode, useEffect, useRef, useState } from "react";

interface Props {
  /** Names the group that it is where it scrolls: no landmark, for the section around it may have that name. */
  readonly label: string;
  readonly className: string | undefined;
  readonly children: ReactNode;
}

/** A box that scrolls sideways when its content is wider. Only then does the keyboard need a stop to scroll it. */
export function ScrollBox({ label, className, children }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [wide, setWide] = useState(false);
  useEffect(() => {
    const element = box.current;
    if (element === null || typeof ResizeObserver === "undefined") return;
    const observer = new ResizeObserver(() => setWide(element.scrollWidth > element.clientWidth + 1));
    observer.observe(element);
    if (element.firstElementChild !== null) observer.observe(element.firstElementChild);
    return () => observer.disconnect();
  }, []);
  return (
    <div ref={box} className={className} {...(wide && { role: "group", tabIndex: 0, "aria-label": label })}>
      {children}
    </div>
  );
}
