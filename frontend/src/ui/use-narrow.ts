import { useMediaQuery } from "@mantine/hooks";

/** Whether the window is as narrow as a phone, where lists are cards and dialogs come from below. */
export function useNarrow(): boolean {
  return useMediaQuery("(max-width: 860px)", false, { getInitialValueInEffect: false });
}
