/**
 * Flows: this server runs none yet, so that there is nothing to show and nothing to drop. CREATE FLOW is checked as far as its text
 * goes and then refused.
 */
import { CATALOG_NAME } from "../../table/reserved-names.ts";
import { DbError, invalidArguments } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { Environment } from "../function/signature/environment.ts";
import { parseInterval } from "../../value/interval/parse-interval.ts";
import { isInterval, NANOS_PER_DAY } from "../function/value/value.ts";
import { bindConstant } from "../plan/bind/bind.ts";
import { environmentOf } from "../plan/common/planner.ts";
import { resolveName } from "../plan/from/source.ts";
import { prometheusDurationMillis } from "../plan/range/range-length.ts";
import type { QueryContext } from "../query-context.ts";
import type { Expression, IntervalValue, ObjectName, Tql } from "../sql/syntax/ast.ts";
import type { CreateFlow } from "../sql/syntax/definition-ast.ts";
import { printExpression, printWhole } from "../sql/print/print.ts";
import type { Statement } from "../sql/syntax/statement-ast.ts";
import { NO_ROWS_CHANGED, type StatementResult } from "../statement-result.ts";

/** Options of WITH. */
const OPTIONS = ["defer_on_missing_source", "experimental_enable_incremental_read"] as const;

const invalid = (why: string): DbError => invalidArguments(`Invalid SQL, error: ${why}`);

/** The error of a flow that does not exist. */
export function flowNotFound(name: ObjectName): DbError {
  return new DbError(StatusCode.FlowNotFound, `Flow not found: ${CATALOG_NAME}.${name.at(-1)}; this server runs no flows`);
}

/** CREATE FLOW and DROP FLOW. @throws DbError FlowNotFound, Unsupported */
export function changeFlow(statement: Extract<Statement, { kind: "create-flow" | "drop-flow" }>, context: QueryContext): StatementResult {
  return statement.kind === "create-flow" ? createFlow(statement, context) : dropFlow(statement);
}

/** Checks a flow. @throws DbError InvalidArguments, InvalidSyntax for what it says; Unsupported when it says it right */
function createFlow(flow: CreateFlow, context: QueryContext): StatementResult {
  if (flow.orReplace && flow.ifNotExists)
    throw new DbError(StatusCode.Unsupported, "Unsupported operation Create flow with both `IF NOT EXISTS` and `OR REPLACE`");
  const environment = environmentOf(context.clock, context.variables);
  if (flow.name.length > 2 || (flow.name.length === 2 && flow.name[0] !== CATALOG_NAME))
    throw invalid(`the name of a flow has one part, or begins with the catalog: found ${flow.name.join(".")}`);
  resolveName(flow.sink, environment.database);
  checkOptions(flow.options);
  if (flow.expireAfter !== undefined) lengthNanos(flow.expireAfter, "EXPIRE AFTER", environment);
  if (flow.evalInterval !== undefined && lengthNanos(flow.evalInterval, "EVAL INTERVAL", environment) < 1_000_000_000n)
    throw invalid(`EVAL INTERVAL ${printExpression(flow.evalInterval)} is shorter than a second`);
  if (flow.query.kind === "tql") checkTql(flow.query);
  throw new DbError(StatusCode.Unsupported, "SQL statement is not supported, keyword: CREATE FLOW; this server runs no flows yet");
}

function checkOptions(options: Readonly<Record<string, string>>): void {
  for (const [key, value] of Object.entries(options)) {
    if (!OPTIONS.some((name) => name === key)) throw invalid(`unknown flow option '${key}', supported options: ${OPTIONS.join(", ")}`);
    if (!/^(?:true|false)$/i.test(value)) throw invalid(`flow option '${key}' is true or false, found '${value.slice(0, 80)}'`);
  }
}

/** A length of time: an interval, a text of one, or seconds. Months count 30.44 days and years 365.25, as elsewhere in options. */
function lengthNanos(expression: Expression, clause: string, environment: Environment): bigint {
  const { type, value } = bindConstant(expression, environment);
  const nanos = isInterval(value)
    ? intervalNanos(value)
    : value !== undefined && type.kind === "int"
      ? BigInt(value as number | bigint) * 1_000_000_000n
      : type.kind === "string"
        ? textNanos(String(value))
        : undefined;
  if (nanos === undefined) throw invalid(`${clause} ${printExpression(expression)} is no interval; write for example '1 hour'`);
  if (nanos < 0n) throw invalid(`${clause} ${printExpression(expression)} is negative`);
  return nanos;
}

function textNanos(text: string): bigint | undefined {
  const millis = prometheusDurationMillis(text.trim());
  if (millis !== undefined) return millis * 1_000_000n;
  const interval = /[a-z]/i.test(text) ? parseInterval(text) : undefined;
  return interval === undefined ? undefined : intervalNanos(interval);
}

const SECONDS_PER_MONTH = 2_630_016n;

function intervalNanos({ months, days, nanos }: IntervalValue): bigint {
  return BigInt(months) * SECONDS_PER_MONTH * 1_000_000_000n + BigInt(days) * NANOS_PER_DAY + nanos;
}

/** A flow runs again and again, so that its TQL must move with the time. */
function checkTql({ mode, range }: Tql): void {
  if (mode !== "eval") throw invalid("only TQL EVAL is served in CREATE FLOW");
  for (const [what, moment] of [
    ["start", range?.start],
    ["end", range?.end],
  ] as const) {
    if (moment !== undefined && /\bnow\(\)/.test(printWhole(moment))) continue;
    const found = moment === undefined ? "none" : printExpression(moment);
    throw new DbError(
      StatusCode.InvalidSyntax,
      `Invalid TQL syntax: Expected expression containing \`now()\` as ${what}, but have ${found}`,
    );
  }
}

/** @throws DbError FlowNotFound */
export function showCreateFlow(name: ObjectName): StatementResult {
  throw flowNotFound(name);
}

/** @throws DbError FlowNotFound, unless IF EXISTS says otherwise */
function dropFlow({ name, ifExists }: Extract<Statement, { kind: "drop-flow" }>): StatementResult {
  if (!ifExists) throw flowNotFound(name);
  return NO_ROWS_CHANGED;
}
