/**
 * A running server over HTTP: statements, of which rows come as Arrow (exact types, NULL apart from empty text, batch by batch), and
 * writes. Whoever leaves an answer before its end closes its connection, and the server then ends the statement.
 */
import { errorText } from "../../base/error.ts";
import type { Batch, ColumnHeader } from "../../column/batch.ts";
import type { DataType } from "../../column/data-type.ts";
import { scalarAt } from "../../column/scalar.ts";
import type { Scalar } from "../../column/vector.ts";
import { arrowRows } from "./arrow-answer.ts";
import { Refusal, refusalOf } from "./refusal.ts";
import type { ServerAddress } from "./server-flags.ts";

/** What a statement answers. */
export type Answer =
  | { readonly kind: "rows"; readonly headers: readonly ColumnHeader[]; readonly batches: AsyncGenerator<Batch> }
  /** `rowCount` undefined: the server did not say. */
  | { readonly kind: "done"; readonly rowCount: number | undefined };

/** How a request is sent. */
export interface RequestParts {
  readonly method?: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  readonly signal?: AbortSignal | undefined;
}

/** First words of statements that change something and give no rows: their answer says how many rows they met. */
const CHANGING: ReadonlySet<string> = new Set(
  "insert replace update delete create drop alter truncate copy set kill grant revoke begin start commit rollback".split(" "),
);

export class Client {
  database: string;
  /** Of times in statements and answers; undefined: UTC. */
  timeZone: string | undefined;
  readonly url: string;
  private readonly address: ServerAddress;
  private readonly headers: Readonly<Record<string, string>>;

  constructor(address: ServerAddress) {
    this.address = address;
    this.url = address.url;
    this.database = address.database;
    const { user, password } = address;
    this.headers = user === undefined ? {} : { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}` };
  }

  /**
   * Sends a request. Its answer is as it comes; a refusal is no exception here.
   *
   * @throws Refusal of status 0 where nobody answers; the signal's reason
   */
  async send(path: string, { method = "POST", headers, body, signal }: RequestParts): Promise<Response> {
    const { tls } = this.address;
    try {
      return await fetch(this.url + path, {
        method,
        headers: { ...this.headers, ...headers },
        ...(body === undefined ? {} : { body: body as Uint8Array<ArrayBuffer> | string }), // Never on shared memory.
        ...(signal === undefined ? {} : { signal }),
        ...(tls === undefined ? {} : { tls }),
        timeout: false, // A statement takes as long as it takes.
      } as RequestInit);
    } catch (thrown) {
      signal?.throwIfAborted();
      const why = reasonOf(thrown);
      throw new Refusal(`cannot reach ${this.url}: ${why}`, { status: 0, isUnsent: why === NOBODY, cause: thrown });
    }
  }

  /**
   * Runs one statement.
   *
   * @throws Refusal; the signal's reason
   */
  async run(statement: string, signal?: AbortSignal, database: string = this.database): Promise<Answer> {
    const isChange = CHANGING.has(firstWord(statement));
    const form = new URLSearchParams({ sql: statement, db: database, format: isChange ? "greptimedb_v1" : "arrow" });
    const headers: Record<string, string> = { "content-type": "application/x-www-form-urlencoded" };
    if (this.timeZone !== undefined) headers["x-greptime-timezone"] = this.timeZone;
    const response = await this.send("/v1/sql", { headers, body: form.toString(), signal });
    if (!response.ok) throw await refusalOf(response);
    if (isChange) return { kind: "done", rowCount: affectedOf(await response.text()) };
    const rows = await arrowRows(piecesOf(response, signal));
    return rows === undefined ? { kind: "done", rowCount: undefined } : { kind: "rows", ...rows };
  }

  /** All rows of a small answer, as values. @throws as `run` */
  async rows(statement: string, signal?: AbortSignal, database?: string): Promise<readonly (readonly Scalar[])[]> {
    const answer = await this.run(statement, signal, database);
    if (answer.kind === "done") return [];
    const rows: Scalar[][] = [];
    const types: readonly DataType[] = answer.headers.map(({ type }) => type);
    for await (const { rowCount, vectors } of answer.batches) {
      for (let row = 0; row < rowCount; row++) {
        rows.push(vectors.map((vector, i) => scalarAt(vector, types[i] ?? { kind: "null" }, row)));
      }
    }
    return rows;
  }
}

/** The first word of a statement in lower case, behind comments; "" where there is none. */
function firstWord(statement: string): string {
  return /^(?:\s|\(|--[^\n]*(?:\n|$)|\/\*[^]*?\*\/)*(\w*)/.exec(statement)?.[1]?.toLowerCase() ?? "";
}

async function* piecesOf(response: Response, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  const { body } = response;
  if (body === null) return;
  try {
    for await (const piece of body as AsyncIterable<Uint8Array>) yield piece;
  } catch (thrown) {
    signal?.throwIfAborted();
    const why = reasonOf(thrown);
    throw new Refusal(`the answer was cut off: ${why}`, { status: 0, cause: thrown });
  }
}

function affectedOf(text: string): number | undefined {
  const told = JSON.parse(text) as { readonly output?: readonly { readonly affectedrows?: number }[] };
  return told.output?.[0]?.affectedrows;
}

const NOBODY = "nobody listens there; is the server running?";

/** What the runtime says of a connection, in words. */
function reasonOf(thrown: unknown): string {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  switch (code) {
    case "ConnectionRefused":
    case "ECONNREFUSED":
      return NOBODY;
    case "ConnectionClosed":
    case "ECONNRESET":
      return "the connection was closed";
    default:
      return typeof code === "string" && /CERT|SELF_SIGNED/.test(code)
        ? `${errorText(thrown)} (${code}); see --ca and --insecure`
        : errorText(thrown);
  }
}
