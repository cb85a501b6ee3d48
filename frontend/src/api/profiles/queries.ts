/** Fetchers and query options of profiles. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "@/api/client";
import type { Language } from "@/api/queries";
import { sendFile, type Upload } from "@/api/runs/upload";
import type { Profile, ProfileOrderInput } from "./types";

const path = (run: string) => ({ path: { run_id: run } });

/** Profiles of a run and of `base`, or its baseline; every key under "profiles" follows from a profile more or less. */
export function profilesQuery(run: string, base = "") {
  return queryOptions({
    queryKey: ["profiles", "list", run, base],
    queryFn: ({ signal }) => {
      const query = base === "" ? {} : { base };
      return unwrap(api.GET("/api/runs/{run_id}/profiles", { params: { ...path(run), query }, signal }));
    },
    placeholderData: (held, query) => (query?.queryKey[2] === run ? held : undefined),
  });
}

/** What was ordered of a run, and of what profiles can be taken now. */
export function profileOrdersQuery(run: string) {
  return queryOptions({
    queryKey: ["profiles", "orders", run],
    queryFn: ({ signal }) => unwrap(api.GET("/api/runs/{run_id}/profile-orders", { params: path(run), signal })),
  });
}

export interface ProfileAsk {
  readonly files: readonly string[];
  readonly base: readonly string[];
  /** Empty for what is usual of the kind. */
  readonly type: string;
}

/** Functions, tree and differences; files never change. */
export function profileViewQuery({ files, base, type }: ProfileAsk, lang: Language) {
  return queryOptions({
    queryKey: ["profile-view", files, base, type, lang],
    queryFn: ({ signal }) => {
      const query = { file: [...files], base: [...base], lang, ...(type !== "" && { sample_type: type }) };
      return unwrap(api.GET("/api/profiles/view", { params: { query }, signal }));
    },
    enabled: files.length > 0,
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
}

export function orderProfiles(body: ProfileOrderInput) {
  return unwrap(api.POST("/api/profile-orders", { body }));
}

/** Keeps a file of pprof or collapsed stacks with a run. */
export function uploadProfile(run: string, file: File): Upload<Profile> {
  const name = new URLSearchParams({ name: file.name });
  return sendFile<Profile>(`/api/runs/${run}/profiles?${name}`, file, "application/octet-stream", () => {});
}
