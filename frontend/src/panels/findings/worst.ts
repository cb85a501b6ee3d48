import { createContext, useContext, useMemo } from "react";
import type { Finding } from "@/api/findings/types";
import { accuses } from "./model";

/** Instances that findings name, that of the first finding first: whoever is called the worst on this page. */
export const WorstInstances = createContext<readonly string[]>([]);
export const useWorst = () => useContext(WorstInstances);

export function worstInstances(findings: readonly Finding[]): readonly string[] {
  return findings.filter(accuses).flatMap(({ instances, labels }) => instances[0] ?? labels.instance ?? []);
}

/** The same list for as long as it names the same. */
export function useWorstOf(findings: readonly Finding[] | undefined): readonly string[] {
  const text = JSON.stringify(worstInstances(findings ?? []));
  return useMemo((): readonly string[] => JSON.parse(text), [text]);
}

/** Place of the worst among these, by their labels; -1 where findings name none of them. */
export function placeOfWorst(
  worst: readonly string[],
  members: readonly { readonly labels: Readonly<Record<string, string>> }[],
): number {
  const name = worst.find((one) => members.some(({ labels }) => labels.instance === one));
  return name === undefined ? -1 : members.findIndex(({ labels }) => labels.instance === name);
}
