/** Tickets that are a `GreptimeRequest` (contract query.md 5.4): who asks, in which database, and the one statement. */
import { fromBinary } from "@bufbuild/protobuf";
import type { PromRangeQuery } from "../../../../proto/gen/greptime/v1/prom_pb.js";
import { type GreptimeRequest, GreptimeRequestSchema } from "../../../../proto/gen/greptime/v1/database_pb.js";
import { DbError } from "../../../base/error.ts";
import { atOnce } from "../../../base/scheduler/pace.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { splitStatements } from "../../wire/split-statements.ts";

/** Reads a ticket. @throws DbError InvalidArguments */
export function greptimeRequestOf(ticket: Uint8Array): GreptimeRequest {
  try {
    return fromBinary(GreptimeRequestSchema, ticket);
  } catch (thrown) {
    throw new DbError(StatusCode.InvalidArguments, "Invalid flight ticket: it is no GreptimeRequest", { cause: thrown });
  }
}

/** The text of the one statement of a query; undefined where the request is no query. @throws DbError InvalidArguments, Unsupported */
export function statementOf({ request }: GreptimeRequest): string | undefined {
  if (request.case !== "query") return undefined;
  const { query } = request.value;
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
