/** What a server says no with. */
import type { TextPosition } from "../../base/error.ts";
import { HTTP_STATUS_RETRIED } from "./retry.ts";

/** What is known of a refusal besides its text. */
interface RefusalParts {
  readonly status: number;
  readonly code?: number | undefined;
  readonly retryAfterMillis?: number | undefined;
  readonly position?: TextPosition | undefined;
  readonly isUnsent?: boolean;
  readonly cause?: unknown;
}

/** An answer that is an error, or no answer at all. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  /** Of HTTP; 0: there was no answer, so that nobody knows whether the request was carried out. */
  readonly status: number;
  /** The server's own code (docs/errors.md); undefined: the answer has none. */
  readonly code: number | undefined;
  readonly retryAfterMillis: number | undefined;
  /** Whether the request certainly did not reach the server. */
  readonly isUnsent: boolean;
  /** Where in a statement it is, counted from 1; undefined: the server did not say. */
  readonly position: TextPosition | undefined;

  constructor(message: string, about: RefusalParts) {
    super(message, about.cause === undefined ? {} : { cause: about.cause });
    this.status = about.status;
    this.code = about.code;
    this.retryAfterMillis = about.retryAfterMillis;
    this.position = about.position;
    this.isUnsent = about.isUnsent === true;
  }

  /** Whether the same request may succeed later. */
  get isPassing(): boolean {
    return this.status === 0 || HTTP_STATUS_RETRIED.has(this.status);
  }
}

/** How the server ends what it says of a statement that does not parse. It has no other form over HTTP. */
const PLACE = / at Line: (\d{1,9}), Column: (\d{1,9})$/;

/** The refusal that an answer is. */
export async function refusalOf(response: Response): Promise<Refusal> {
  const text = await response.text();
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  const retryAfterMillis = Number.isFinite(seconds) ? seconds * 1000 : undefined;
  const told = jsonOf(text);
  const message = typeof told?.error === "string" ? told.error : text.trim() || `HTTP ${response.status} ${response.statusText}`.trim();
  const code = typeof told?.code === "number" ? told.code : undefined;
  const place = PLACE.exec(typeof told?.error === "string" ? told.error : "");
  const position = place === null ? undefined : { line: Number(place[1]), column: Number(place[2]) };
  return new Refusal(message, { status: response.status, code, retryAfterMillis, position });
}

function jsonOf(text: string): { readonly error?: unknown; readonly code?: unknown } | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    return JSON.parse(text) as { error?: unknown; code?: unknown };
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return undefined; // Then the text itself is what there is to say.
    throw thrown;
  }
}
