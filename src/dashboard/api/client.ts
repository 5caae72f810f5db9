/** Requests to the server that this page came from. */
import { settings } from "../page/settings.ts";
import { askForCredentials, authorization } from "./credentials.ts";
import type { AnswerStore } from "./answer-store.ts";
import { readSql } from "./read-answer.ts";

/** The server answered that it will not; `text` is its reason. */
export class ServerError extends Error {
  override readonly name = "ServerError";
  readonly status: number;

  constructor(status: number, text: string) {
    super(text);
    this.status = status;
  }
}

/** What to send. */
export interface Ask {
  readonly method?: string;
  readonly body?: string | FormData | URLSearchParams;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Statuses that are answers as well. */
  readonly isFine?: (status: number) => boolean;
}

/** Sends a request; asks for credentials when they are wanted and sends it again. @throws ServerError, of status 0 when nothing answers */
export async function send(path: string, ask: Ask = {}): Promise<Response> {
  for (;;) {
    const response = await reached(path, {
      method: ask.method ?? (ask.body === undefined ? "GET" : "POST"),
      body: ask.body ?? null,
      headers: headersOf(ask.headers),
      signal: ask.signal ?? null,
      credentials: "omit",
    });
    if (response.status === 401) {
      await askForCredentials();
      continue;
    }
    if (!response.ok && ask.isFine?.(response.status) !== true) throw new ServerError(response.status, await reasonOf(response));
    return response;
  }
}

/** `fetch`, whose failure says what it means. @throws ServerError of status 0; AbortError of a request that was given up */
async function reached(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, init);
  } catch (error) {
    if (error instanceof TypeError) throw new ServerError(0, "The server does not answer. Is it running?");
    throw error;
  }
}

/** Headers of every request. */
export function headersOf(own: Readonly<Record<string, string>> = {}): Record<string, string> {
  const known = authorization();
  return { ...own, ...(known === undefined ? {} : { authorization: known }) };
}

/** The reason in an error's body: JSON with `error`, or text. */
async function reasonOf(response: Response): Promise<string> {
  const text = await response.text();
  try {
    const body = JSON.parse(text) as { readonly error?: unknown };
    if (typeof body.error === "string") return body.error;
  } catch {
    // Not JSON: the text is the reason.
  }
  return text.trim() === "" ? `the server answered ${response.status}` : text.trim().slice(0, 2000);
}

/** A cell of a small answer; integers beyond 2^53 are bigint. */
export type SqlCell = string | number | bigint | boolean | null | undefined;

/** A row by the names of its columns. */
export type SqlRow = Readonly<Record<string, SqlCell>>;

/** Runs one statement whose answer is small: catalogues, samples. @throws as `send` */
export async function sql(statement: string, signal?: AbortSignal): Promise<AnswerStore> {
  const response = await send(`/v1/sql?db=${encodeURIComponent(settings.database)}`, {
    body: new URLSearchParams({ sql: statement }),
    ...(signal === undefined ? {} : { signal }),
  });
  return readSql(await response.text()).store;
}

/** Rows as objects of their columns' names. @throws as `send` */
export async function sqlObjects(statement: string, signal?: AbortSignal): Promise<readonly SqlRow[]> {
  return (await sql(statement, signal)).objects();
}

/** A text as SQL writes it. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A name as SQL writes it. */
export function named(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** What went wrong, for people. */
export function problemOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
