import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { ApiError } from "@/api/client";
import { sessionQuery } from "@/api/queries";

/** A client whose every 401 leads to the sign-in page. */
export function createQueryClient(): QueryClient {
  const onError = (error: unknown) => {
    // A wrong password is refused with 401 as well, also where somebody who is signed in changes it.
    if (error instanceof ApiError && error.status === 401 && error.code !== "wrong-password") {
      client.setQueryData(sessionQuery.queryKey, (held) => held && { ...held, principal: null });
    }
  };
  const client = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        refetchOnWindowFocus: false,
        // What the server refuses, it refuses again; only silence is worth another try.
        retry: (count, error) => count < 2 && error instanceof ApiError && error.status === 0,
        // "The browser is offline" says nothing about a server on this machine.
        networkMode: "always",
      },
      mutations: { networkMode: "always" },
    },
  });
  return client;
}
