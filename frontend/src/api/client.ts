/** The one way to the server: typed by the generated schema, errors as `ApiError`. */
import createClient from "openapi-fetch";
import type { paths } from "@/api/schema.gen";

// openapi-fetch keeps the first `fetch` it sees; tests and extensions replace the global one later.
export const api = createClient<paths>({
  baseUrl: globalThis.location.origin,
  fetch: (request) => globalThis.fetch(request),
});

/** `offline`: no answer at all. Every other code comes from the server's problem details. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  /** The same in Japanese, where the server says it; else empty. */
  readonly detailJa: string;
  /** Seconds that the server asks to wait before another try; null when it names none. */
  readonly retryAfter: number | null;

  constructor(status: number, code: string, detail: string, retryAfter: number | null = null, detailJa = "") {
    super(detail === "" ? code : detail);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
    this.detail = detail;
    this.retryAfter = retryAfter;
    this.detailJa = detailJa;
  }
}

interface Answered<T> {
  readonly data?: T;
  readonly error?: unknown;
  readonly response: Response;
}

/** The body of a good answer; throws `ApiError` for every other outcome, and lets an abort pass as it is. */
export async function unwrap<T>(pending: Promise<Answered<T>>): Promise<T> {
  let answered: Answered<T>;
  try {
    answered = await pending;
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === "AbortError") throw cause;
    throw new ApiError(0, "offline", "");
  }
  if (answered.response.ok) return answered.data as T;
  throw problemToError(answered.response, answered.error);
}

function problemToError({ status, headers }: Response, body: unknown): ApiError {
  const problem = (typeof body === "object" && body !== null ? body : {}) as {
    code?: unknown;
    detail?: unknown;
    detail_ja?: unknown;
    /** As Prometheus' API names the two. */
    errorType?: unknown;
    error?: unknown;
  };
  const { code: name = problem.errorType, detail: words = problem.error } = problem;
  const code = typeof name === "string" ? name : `http-${status}`;
  // A proxy in front of the server answers 502 to 504 with a page of its own.
  const away = typeof name !== "string" && status >= 502 && status <= 504;
  const wait = Number.parseInt(headers.get("Retry-After") ?? "", 10);
  const detail = typeof words === "string" ? words : "";
  const detailJa = typeof problem.detail_ja === "string" ? problem.detail_ja : "";
  return new ApiError(status, away ? "offline" : code, detail, Number.isFinite(wait) ? wait : null, detailJa);
}
