/**
 * TQL → plan: the moments between its parentheses are computed here, the PromQL behind them is the engine's (contract query.md 6.6).
 *
 *   start, end       seconds since the epoch, a text of them or of a time, or a constant expression: now() - INTERVAL '1 hour'
 *   step, lookback   seconds, a text of them, a duration ('1m30s'), or an interval
 */
import { DbError, invalidArguments } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { Batch } from "../../column/batch.ts";
import { displayName, NULL, sameType, TIMESTAMP_NANOSECOND, UNITS_PER_SECOND } from "../../column/data-type.ts";
import type { Environment } from "../function/signature/environment.ts";
import { intervalText } from "../../value/interval/interval-text.ts";
import { parseTimestamp } from "../../value/parse-time.ts";
import { isInterval, NANOS_PER_DAY, textOf } from "../function/value/value.ts";
import type { PromqlEngine, PromqlPlan, PromqlRequest } from "../promql-engine.ts";
import type { Expression, Tql, TqlRange } from "../sql/syntax/ast.ts";
import { printExpression } from "../sql/print/print.ts";
import { bindConstant } from "./bind/bind.ts";
import { castTo } from "./bind/coerce.ts";
import type { PlanNode } from "../operator/contract/node.ts";
import type { SourceRun } from "../operator/contract/row-sources.ts";
import type { RowSource } from "../operator/source/node.ts";
import type { Planner } from "./common/planner.ts";
import { prometheusDurationMillis } from "./range/range-length.ts";

/** The moment and step of a TQL that names none. */
const DEFAULT_STEP_MS = 300_000;

/** Latest moment, milliseconds since the epoch: beyond it a time in nanoseconds is no 64-bit number. */
const MILLIS_MAX = 9_223_372_036_854;

const syntax = (why: string): DbError => new DbError(StatusCode.InvalidSyntax, `Invalid TQL syntax: ${why}`);

/** The rows of TQL EVAL. @throws DbError InvalidSyntax, EngineExecuteQuery, those of the engine; Unsupported without one */
export function planTql(tql: Tql, planner: Planner): PlanNode {
  const { environment, catalog, promql } = planner;
  const { database } = environment;
  const request = promqlRequest(tql, environment);
  const plan = engineOf(promql).plan(request, { catalog, environment });
  const source: TqlSource = { kind: "tql", request, database };
  PLANNED.set(source, plan);
  return { kind: "source", name: plan.summary, columns: plan.columns, source };
}

function engineOf(promql: PromqlEngine | undefined): PromqlEngine {
  if (promql !== undefined) return promql;
  throw new DbError(StatusCode.Unsupported, "SQL statement is not supported, keyword: TQL; this server has no PromQL engine yet");
}

type TqlSource = Extract<RowSource, { kind: "tql" }>;

/** What the engine made of those that were planned here; others are planned when they run. */
const PLANNED = new WeakMap<TqlSource, PromqlPlan>();

/** The rows of TQL. @throws DbError those of the engine, RequestOutdated when what it reads has other columns now */
export function tqlRows(
  source: TqlSource,
  promql: PromqlEngine | undefined,
  { catalog, environment }: Pick<Planner, "catalog" | "environment">,
  { signal, budget, columns, scan }: SourceRun,
): AsyncIterable<Batch> {
  const { request, database } = source;
  const plan = PLANNED.get(source) ?? engineOf(promql).plan(request, { catalog, environment: { ...environment, database } });
  const isSame = plan.columns.length === columns.length && plan.columns.every(({ type }, i) => sameType(type, columns[i]?.type ?? NULL));
  if (!isSame) throw new DbError(StatusCode.RequestOutdated, `cannot run ${plan.summary}: what it reads has changed; run it again`);
  return plan.run({ signal, reserve: budget.reserve, release: budget.release, scan });
}

/** What the engine is asked. @throws DbError InvalidSyntax, EngineExecuteQuery, InvalidArguments */
function promqlRequest({ range, promql, promqlSpan: span, alias }: Tql, environment: Environment): PromqlRequest {
  return { promql, span, alias, ...momentsOf(range, environment) };
}

type Moments = Pick<PromqlRequest, "startMillis" | "endMillis" | "stepMillis" | "lookbackMillis">;

function momentsOf(range: TqlRange | undefined, environment: Environment): Moments {
  if (range === undefined) return { startMillis: 0, endMillis: 0, stepMillis: DEFAULT_STEP_MS, lookbackMillis: undefined };
  const stepMillis = durationOf(range.step, "step", environment);
  if (stepMillis < 1) {
    const why = "a step must be at least a millisecond";
    throw invalidArguments(`Invalid TQL step ${printExpression(range.step)}: ${why}`);
  }
  return {
    startMillis: momentOf(range.start, "start", environment),
    endMillis: momentOf(range.end, "end", environment),
    stepMillis,
    lookbackMillis: range.lookback === undefined ? undefined : durationOf(range.lookback, "lookback", environment),
  };
}

/** Seconds as a text, such as `1743465600.5`. */
const SECONDS = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*$/i;

/** Whole milliseconds of seconds. @throws DbError EngineExecuteQuery when negative */
function millisOfSeconds(seconds: number, what: string): number {
  if (seconds < 0) {
    throw new DbError(
      StatusCode.EngineExecuteQuery,
      `Failed to convert float seconds to duration, raw: ${seconds}: cannot convert float seconds to Duration: value is negative`,
    );
  }
  const millis = Math.round(seconds * 1000);
  if (!(millis <= MILLIS_MAX)) throw syntax(`the ${what} ${seconds} is too large; it is seconds`);
  return millis;
}

function momentOf(expression: Expression, what: string, environment: Environment): number {
  const { type, value } = bindConstant(expression, environment);
  switch (type.kind) {
    case "int":
    case "float":
    case "decimal":
      if (value === undefined) break;
      return millisOfSeconds(type.kind === "decimal" ? Number(value) / 10 ** type.scale : Number(value), what);
    case "duration":
      if (value === undefined) break;
      return millisOfSeconds(Number(value) / UNITS_PER_SECOND[type.unit], what);
    case "timestamp":
    case "date": {
      const nanos = castTo({ kind: "literal", type, value }, TIMESTAMP_NANOSECOND, environment);
      if (nanos.kind === "literal" && nanos.value !== undefined) return Number(BigInt(nanos.value as bigint) / 1_000_000n);
      break;
    }
    case "string": {
      const text = textOf(value);
      if (SECONDS.test(text)) return millisOfSeconds(Number(text), what);
      const nanos = value === undefined ? undefined : parseTimestamp(text, environment.timeZone);
      if (nanos !== undefined) return Number(nanos / 1_000_000n);
      break;
    }
    default:
      break;
  }
  throw syntax(
    `Failed to evaluate TQL expression: Failed to extract a timestamp value ${printExpression(expression)} for ${what}: ` +
      `it is ${displayName(type)}; write seconds, '2024-01-01T00:00:00Z' or now() - INTERVAL '1 hour'`,
  );
}

function durationOf(expression: Expression, what: string, environment: Environment): number {
  const { type, value } = bindConstant(expression, environment);
  if (value !== undefined && (type.kind === "int" || type.kind === "float")) return millisOfSeconds(Number(value), what);
  if (isInterval(value)) {
    if (value.months !== 0) throw syntax(`the ${what} ${intervalText(value)} has months, which have no fixed length`);
    return millisOfSeconds(Number(BigInt(value.days) * NANOS_PER_DAY + value.nanos) / 1e9, what);
  }
  if (value !== undefined && type.kind === "string") {
    const text = textOf(value);
    if (SECONDS.test(text)) return millisOfSeconds(Number(text), what);
    const millis = prometheusDurationMillis(text.trim());
    if (millis !== undefined) return millisOfSeconds(Number(millis) / 1000, what);
  }
  throw syntax(`not a valid duration string: ${printExpression(expression)} for ${what}; write seconds or a duration such as '1m30s'`);
}
