import { useMutation, useQueryClient } from "@tanstack/react-query";
import { notifyGood } from "@/ui/notify";

interface Options<Made> {
  /** First words of the keys of what is read again, whatever came of it. */
  readonly touches: readonly string[];
  /** What the page says when it is done. */
  readonly said?: string;
  readonly onDone?: (made: Made) => void;
  readonly onFault?: (error: Error) => void;
}

/** A change on the server, and what follows from it on the page. */
export function useChange<Given = void, Made = unknown>(
  change: (given: Given) => Promise<Made>,
  { touches, said, onDone, onFault }: Options<Made>,
) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: (made) => {
      if (said !== undefined) notifyGood(said);
      onDone?.(made);
    },
    ...(onFault && { onError: onFault }),
    onSettled: () => Promise.all(touches.map((key) => client.invalidateQueries({ queryKey: [key] }))),
  });
}
