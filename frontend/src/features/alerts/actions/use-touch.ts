import { useMediaQuery } from "@mantine/hooks";

/** Whether fingers do the work: there, a field that takes the focus brings a keyboard over half the screen. */
export function useTouch(): boolean {
  return useMediaQuery("(pointer: coarse), (max-width: 860px)", false, { getInitialValueInEffect: false });
}
