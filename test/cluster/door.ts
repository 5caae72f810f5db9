/** How trials talk to a cluster: line protocol in, SQL out; or to one that is made up (`fake-cluster.ts`). */
import { errorText } from "../../src/base/error.ts";
import { sqlTable } from "../../bench/macro/sql-client.ts";
import { BATCH_ROWS, type Request } from "./model.ts";

/**
 * What came of a request to write. `unreached`: nobody listened, so that it is not there. `unanswered`: it may be there, or parts of it.
 * `refused`: the answer says that it is the request that is wrong.
 */
export type Written = { readonly kind: "acknowledged" } | { readonly kind: "unreached" | "unanswered" | "refused"; readonly why: string };

/** Rows of one batch, as a query finds them. */
export interface FoundBatch {
  readonly number: number;
  /** Different rows. */
  readonly rows: number;
  /** Fewest and most copies of one row. */
  readonly copiesMin: number;
  readonly copiesMax: number;
  /** Sum of the numbers of the different rows. */
  readonly sum: number;
}

/** A key, as a query finds it. */
export interface FoundKey {
  readonly number: number;
  readonly rows: number;
  readonly version: number;
}

/** A place to write to and ask. */
export interface Door {
  readonly name: string;
  /** Never rejects. */
  write(writer: string, request: Request, millisMax: number): Promise<Written>;
  /** Batches of a writer from a number on. @throws Error when there is no answer */
  batches(writer: string, from: number, millisMax: number): Promise<readonly FoundBatch[]>;
  /** @throws Error when there is no answer */
  keys(writer: string, millisMax: number): Promise<readonly FoundKey[]>;
  /** One query that needs all shards. @throws Error when there is no answer */
  probe(millisMax: number): Promise<void>;
}

/** Tables are made with these, before the first row. */
export const TABLES: readonly string[] = [
  "CREATE TABLE trial_appended (writer STRING, host STRING, batch BIGINT, id BIGINT, greptime_timestamp TIMESTAMP(9) TIME INDEX, " +
    "PRIMARY KEY (writer, host)) WITH ('append_mode' = 'true')",
  "CREATE TABLE trial_latest (writer STRING, k STRING, number BIGINT, version BIGINT, greptime_timestamp TIMESTAMP(9) TIME INDEX, " +
    "PRIMARY KEY (writer, k))",
];

/** Series of append mode a writer: over them rows spread to shards. */
const HOSTS = 8;
const TIME = 1_700_000_000_000_000_000n;
const MILLI = 1_000_000n;

/** The lines of a request. */
function linesOf(writer: string, { batch, keys }: Request): string {
  const appended = Array.from({ length: BATCH_ROWS }, (_, i) => {
    const id = batch.number * BATCH_ROWS + i;
    return `trial_appended,writer=${writer},host=h${id % HOSTS} batch=${batch.number}i,id=${id}i ${TIME + BigInt(id) * MILLI}`;
  });
  const latest = keys.map(
    ({ key, version }) => `trial_latest,writer=${writer},k=k${key.number} number=${key.number}i,version=${version}i ${TIME}`,
  );
  return [...appended, ...latest].join("\n");
}

/** Codes of a connection that was never there. */
const UNREACHED: ReadonlySet<string> = new Set(["ConnectionRefused", "ECONNREFUSED"]);
/** Answers that tell to come back. */
const COME_BACK: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

/** A server's HTTP address. */
export class HttpDoor implements Door {
  readonly name: string;
  private readonly url: string;

  constructor(name: string, url: string) {
    this.name = name;
    this.url = url;
  }

  async write(writer: string, request: Request, millisMax: number): Promise<Written> {
    const init = { method: "POST", body: linesOf(writer, request), signal: AbortSignal.timeout(millisMax), keepalive: false };
    try {
      const response = await fetch(`${this.url}/v1/influxdb/write?precision=ns`, init);
      if (response.status === 204) return { kind: "acknowledged" };
      const why = `${response.status} ${(await response.text()).slice(0, 300)}`;
      return { kind: COME_BACK.has(response.status) ? "unanswered" : "refused", why };
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "";
      return { kind: UNREACHED.has(code) ? "unreached" : "unanswered", why: errorText(error) };
    }
  }

  async batches(writer: string, from: number, millisMax: number): Promise<readonly FoundBatch[]> {
    const rows = await this.ask(
      "SELECT batch, count(*), min(c), max(c), sum(id) FROM (SELECT batch, id, count(*) AS c FROM trial_appended " +
        `WHERE writer = '${writer}' AND batch >= ${from} GROUP BY batch, id) AS each GROUP BY batch ORDER BY batch`,
      millisMax,
    );
    return rows.map(([number = 0, count = 0, copiesMin = 0, copiesMax = 0, sum = 0]) => ({
      number,
      rows: count,
      copiesMin,
      copiesMax,
      sum,
    }));
  }

  async keys(writer: string, millisMax: number): Promise<readonly FoundKey[]> {
    const sql = `SELECT number, count(*), min(version) FROM trial_latest WHERE writer = '${writer}' GROUP BY number ORDER BY number`;
    const rows = await this.ask(sql, millisMax);
    return rows.map(([number = 0, count = 0, version = 0]) => ({ number, rows: count, version }));
  }

  async probe(millisMax: number): Promise<void> {
    await this.ask("SELECT count(*) FROM trial_appended", millisMax);
  }

  private async ask(sql: string, millisMax: number): Promise<readonly (readonly number[])[]> {
    const { rows } = await sqlTable(this.url, sql, AbortSignal.timeout(millisMax));
    return rows.map((row) =>
      row.map((cell) => {
        const number = Number(cell);
        if (cell === null || !Number.isSafeInteger(number)) throw new Error(`${sql} answered ${String(cell)}, which is no count`);
        return number;
      }),
    );
  }
}
