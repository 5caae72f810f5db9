/** Tickets that are a `GreptimeRequest` (contract query.md 5.4): who asks, in which database, and the one statement. */
import type { RequestHeader } from "../../../../proto/gen/greptime/v1/common_pb.js";
import type { PromRangeQuery } from "../../../../proto/gen/greptime/v1/prom_pb.js";
import { type QueryRequest, QueryRequestSchema } from "../../../../proto/gen/greptime/v1/database_pb.js";
import { DbError } from "../../../base/error.ts";
import { atOnce } from "../../../base/scheduler/pace.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { splitStatements } from "../../wire/split-statements.ts";
import { readMessage } from "../messages/read-message.ts";
import { readHeader, readRequest } from "../services/greptime-request.ts";

/** A query of a ticket. */
export interface TicketQuery {
  readonly header: RequestHeader;
  /** Its one statement. */
  readonly text: string;
  /** Whether it was made of PromQL, whose `;` SQL's own grammar alone tells from the end of the statement. */
  readonly isPromql: boolean;
}

/** The query of a ticket; undefined: its request is another, which nobody has read yet. @throws DbError InvalidArguments, Unsupported */
export function queryOf(ticket: Uint8Array): TicketQuery | undefined {
  const { header, kind, body } = readRequest(ticket, true);
  if (kind !== "query") return undefined;
  const request = readMessage(QueryRequestSchema, body);
  return { header: readHeader(header), text: textOf(request), isPromql: request.query.case === "promRangeQuery" };
}

function textOf({ query }: QueryRequest): string {
  switch (query.case) {
    case "sql":
      return onlyStatement(query.value);
    case "promRangeQuery":
      return rangeQuery(query.value);
    case undefined:
      throw new DbError(StatusCode.InvalidArguments, "Invalid query: the ticket has none");
    default:
      throw new DbError(StatusCode.Unsupported, `Not supported: queries by ${query.case}; send sql or prom_range_query`);
  }
}

function onlyStatement(text: string): string {
  const count = atOnce(splitStatements(text)).length;
  if (count === 1) return text;
  throw new DbError(StatusCode.InvalidArguments, `Invalid query: exactly one statement a ticket; got ${count}`);
}

/** PromQL over a range, as SQL says it. */
function rangeQuery({ query, start, end, step, lookback }: PromRangeQuery): string {
  const values = lookback === "" ? [start, end, step] : [start, end, step, lookback];
  return `TQL EVAL (${values.map((value) => `'${value.replaceAll("'", "''")}'`).join(", ")}) ${query}`;
}
