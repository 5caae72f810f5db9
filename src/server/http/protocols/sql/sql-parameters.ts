/**
 * Parameters of `/v1/sql` from the query string and a form body, with the refusals that clients of the reference know
 * (contract http.md 2.1).
 */
import type { ArrowCompression } from "../../../../format/arrow/encode-stream.ts";
import type { TimeUnit } from "../../../../column/data-type.ts";
import { type FormOptions, isForm, readForm } from "../../body/form.ts";
import type { Exchange } from "../../exchange.ts";
import { uniquePairs } from "../../query-string.ts";
import { type Reply, textReply } from "../../reply.ts";

/** What a request to `/v1/sql` asks for. */
export interface SqlParameters {
  readonly sql: string | undefined;
  readonly db: string | undefined;
  readonly format: string | undefined;
  /** Unit of timestamps in `influxdb_v1`; undefined = that of the column. */
  readonly epoch: TimeUnit | undefined;
  readonly limit: number | undefined;
  readonly compression: ArrowCompression;
  /** As it was sent. */
  readonly snapshotIntervalMs: string | undefined;
}

const QUERY_NAMES: ReadonlySet<string> = new Set(["sql", "db", "format", "epoch", "limit", "compression", "snapshot_interval_ms"]);
const FORM_NAMES: ReadonlySet<string> = new Set(["sql", "db", "format", "epoch", "snapshot_interval_ms"]);
const LIMIT_MAX = 2n ** 64n - 1n;
const LIMIT_DIGITS_MAX = 20;

/** Reads the parameters, or returns the answer that refuses them. @param body what a POST must send */
export async function readSqlParameters(
  exchange: Exchange,
  options: FormOptions,
  body: "a form" | "a form or nothing" = "a form",
): Promise<SqlParameters | Reply> {
  const query = uniquePairs(exchange.rawQuery, QUERY_NAMES);
  if ("duplicate" in query) return textReply(400, `Failed to deserialize query string: duplicate field \`${query.duplicate}\``);
  if ("tooMany" in query) return textReply(400, `Failed to deserialize query string: more than ${query.tooMany} parameters`);
  const limit = limitOf(query.get("limit"));
  if (typeof limit === "string") return textReply(400, `Failed to deserialize query string: limit: ${limit}`);
  const isRead = exchange.method === "POST" && (body === "a form" || isForm(exchange.request.headers));
  const form = isRead ? await formOf(exchange, options) : new Map<string, string>();
  if ("status" in form) return form;
  return {
    sql: query.get("sql") ?? form.get("sql"),
    db: nonEmpty(query.get("db")) ?? nonEmpty(form.get("db")),
    format: query.get("format") ?? form.get("format"),
    epoch: epochOf(query.get("epoch") ?? form.get("epoch")),
    limit,
    compression: compressionOf(query.get("compression")),
    snapshotIntervalMs: query.get("snapshot_interval_ms") ?? form.get("snapshot_interval_ms"),
  };
}

async function formOf(exchange: Exchange, options: FormOptions): Promise<ReadonlyMap<string, string> | Reply> {
  const form = await readForm(exchange, options, FORM_NAMES);
  if ("status" in form) return form;
  if ("duplicate" in form) return textReply(422, `Failed to deserialize form body: duplicate field \`${form.duplicate}\``);
  if ("tooMany" in form) return textReply(422, `Failed to deserialize form body: more than ${form.tooMany} parameters`);
  return form;
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}

/** The limit, or what is wrong with it. Limits beyond 2^53 limit nothing. */
function limitOf(text: string | undefined): number | undefined | string {
  if (text === undefined) return undefined;
  if (text === "") return "cannot parse integer from empty string";
  if (!/^\+?\d+$/.test(text)) return "invalid digit found in string";
  const digits = text.replace(/^\+?0*/, "");
  if (digits.length > LIMIT_DIGITS_MAX) return "number too large to fit in target type"; // Looked at in full, it would take seconds.
  const value = BigInt(digits); // Of "" it is 0.
  return value > LIMIT_MAX ? "number too large to fit in target type" : Number(value);
}

function epochOf(text: string | undefined): TimeUnit | undefined {
  switch (text?.toLowerCase()) {
    case undefined:
      return undefined;
    case "ns":
      return "nanosecond";
    case "u":
    case "µ":
    case "μ":
      return "microsecond";
    case "s":
      return "second";
    default:
      return "millisecond"; // any other text, as the reference has it
  }
}

/** Of Arrow; anything else is none, as the contract has it. */
function compressionOf(text: string | undefined): ArrowCompression {
  const name = text?.toLowerCase();
  return name === "zstd" || name === "lz4" ? name : undefined;
}
