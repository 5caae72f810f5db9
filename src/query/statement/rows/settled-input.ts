/**
 * Sub-queries of a condition that is tested on other machines: they are run first, here, and what they gave takes their place.
 *
 *   v > (SELECT avg(x) FROM r)            v > 4.5
 *   host IN (SELECT host FROM r)          host IN ('a', 'b')                 and with a list, tags and times prune as ever
 *   (host, v) NOT IN (SELECT h, w …)      NOT (host = 'a' AND v IN (1, 2) OR …)
 *   v <= ALL (SELECT x FROM r)            v <= 3, the least of them
 *   EXISTS (SELECT … WHERE r.h = t.host)  (host IN ('a', 'b')) IS TRUE       what would be a join becomes the list of its keys
 *
 * So all shards test by the same values, those of the moment before. A sub-query that reads the row in another way than by equality would
 * run once a row, and is refused.
 */
import { DbError } from "../../../base/error.ts";
import { checkCancelled, inTurns } from "../../../base/scheduler/pace.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { BOOLEAN } from "../../../column/data-type.ts";
import { ALL_TIME } from "../../../table/scan.ts";
import { fold } from "../../expression/fold.ts";
import {
  columnsOf,
  type CompareOperator,
  comparisonOf,
  conjunctsOf,
  literal,
  operandsOf,
  type TypedExpression,
  withOperands,
} from "../../expression/expression.ts";
import { valueAt } from "../../expression/vector-values.ts";
import type { Environment } from "../../function/signature/environment.ts";
import { compareValues, type Present, type Value } from "../../function/value/value.ts";
import { distinct } from "../../operator/aggregate/distinct-rows.ts";
import { onlyValue } from "../../operator/apply/apply.ts";
import type { ExecBatch, ExecContext } from "../../operator/contract/exec-context.ts";
import type { NodeOf, PlanNode, SubQueryCall } from "../../operator/contract/node.ts";
import { run } from "../../operator/run.ts";
import { intersect } from "../../operator/scan/split-where.ts";
import { planLeaf, splitFor } from "../../plan/from/plan-relation.ts";
import { semiJoin } from "../../plan/rules/correlated-to-join.ts";
import type { InputPlan } from "../../plan/select/input-plan.ts";
import { isOfSubQuery, SUB_QUERY_BASE, SubQueries } from "../../plan/select/sub-queries.ts";
import { type KeyRow, memberOf } from "./member-of.ts";

/** Most rows that a sub-query may give to a condition. Reason: each shard is sent all of them, and looks at them. Error: Unsupported. */
const ROWS_MAX = 100_000;
/** Most bytes of these rows, about. Reason: as many as a list in a statement may have. Error: Unsupported. */
const BYTES_MAX: number = 16 * 1024 * 1024;
/** What a value takes beside its text. */
const VALUE_BYTES = 16;

/** What sub-queries run with. */
export interface SettleParts {
  readonly exec: ExecContext;
  /** Gives the plan that runs in the place of one. */
  readonly travelled: (plan: PlanNode) => PlanNode;
}

/** The same with constants in the place of sub-queries. @throws DbError Unsupported for what has no such form, and those of running it */
export async function settledInput(input: InputPlan, parts: SettleParts): Promise<InputPlan> {
  const { source, planner, split } = input;
  const { relation } = source;
  if (input.subQueries.calls.length === 0 || relation.kind !== "table") return input;
  const everything = new Set(relation.columns.keys());
  const nothing = { timeRange: ALL_TIME, tagPredicates: [], fieldBounds: [], fieldConditions: [], residual: [] };
  const { node } = planLeaf(relation, everything, nothing, [], {});
  const settling = new Settling(node, relation.table.schema.name, input.subQueries.calls, planner.environment, parts);
  const conditions: TypedExpression[] = [];
  for (const condition of split.residual) conditions.push(...conjunctsOf(await settling.settled(condition)));
  const open = conditions.filter((condition) => condition.kind !== "literal" || condition.value !== true);
  // No row meets a condition that is false, or NULL, for all.
  const isNever = open.some(isNeverTrue);
  const own = splitFor(relation, isNever ? [] : open, planner);
  return {
    ...input,
    subQueries: new SubQueries(source.scope, planner),
    split: {
      ...own,
      timeRange: isNever ? { start: ALL_TIME.start, end: ALL_TIME.start } : intersect(split.timeRange, own.timeRange),
      tagPredicates: [...split.tagPredicates, ...own.tagPredicates],
    },
  };
}

/** Whether a condition that is not TRUE is a constant, or compares with NULL. */
function isNeverTrue(condition: TypedExpression): boolean {
  if (condition.kind === "literal") return true;
  const comparison = comparisonOf(condition);
  return comparison !== undefined && comparison.constant.value === undefined;
}

type Quantified = Extract<SubQueryCall["result"], { kind: "any" | "all" }>;

/** The sub-queries of one condition. */
class Settling {
  /** Gives all columns of the table, by their places: what sub-queries would be joined to. */
  private readonly rows: PlanNode;
  private readonly tableName: string;
  private readonly calls: readonly SubQueryCall[];
  private readonly environment: Environment;
  private readonly parts: SettleParts;
  /** What took the place of each sub-query, by its column. */
  private readonly known = new Map<number, TypedExpression>();

  constructor(rows: PlanNode, tableName: string, calls: readonly SubQueryCall[], environment: Environment, parts: SettleParts) {
    this.rows = rows;
    this.tableName = tableName;
    this.calls = calls;
    this.environment = environment;
    this.parts = parts;
  }

  /** A condition over the table's columns alone. */
  async settled(condition: TypedExpression): Promise<TypedExpression> {
    // Where the condition is a sub-query's result and nothing else, it does not matter whether that is false or NULL.
    for (const index of columnsOf(condition)) if (index >= SUB_QUERY_BASE) await this.settle(index, condition.kind === "column");
    return this.replaced(condition);
  }

  private async settle(index: number, isWhole: boolean): Promise<void> {
    if (this.known.has(index)) return;
    const call = this.calls[index - SUB_QUERY_BASE];
    if (call === undefined) throw new Error(`BUG: a column of a sub-query; got ${index}`);
    const found = call.parameters.length > 0 ? await this.ofPartners(call, isWhole) : await this.ofItself(call, isWhole);
    this.known.set(index, isOfSubQuery(found) ? await this.settled(found) : found);
  }

  private replaced(expression: TypedExpression): TypedExpression {
    if (expression.kind === "column") return this.known.get(expression.index) ?? expression;
    const operands = operandsOf(expression);
    const changed = operands.map((operand) => this.replaced(operand));
    if (changed.every((operand, i) => operand === operands[i])) return expression;
    return fold(withOperands(expression, changed), this.environment);
  }

  /** Of a sub-query that knows nothing of the row. */
  private async ofItself(call: SubQueryCall, isWhole: boolean): Promise<TypedExpression> {
    const { plan, result, type } = call;
    switch (result.kind) {
      case "exists":
        for await (const batch of this.run(plan)) if (batch.rowCount > 0) return literal(BOOLEAN, true);
        return literal(BOOLEAN, false);
      case "scalar":
        return literal(type, await onlyValue(this.run(plan), plan));
      case "any":
      case "all":
        return result.operator === (result.kind === "any" ? "=" : "<>") ? this.ofList(call, result, isWhole) : this.ofEnds(plan, result);
    }
  }

  /** `IN`, `NOT IN`. */
  private async ofList(call: SubQueryCall, { kind }: Quantified, isWhole: boolean): Promise<TypedExpression> {
    const join = partnersBy(semiJoin(this.rows, call, kind === "all"));
    if (join === undefined) throw this.refused("compares whole structs, or something else at each look");
    const found = await this.member(join, isWhole && kind === "any");
    return kind === "any" ? found : fold({ kind: "not", type: BOOLEAN, operand: found }, this.environment);
  }

  /** Comparisons for which the least and the greatest value say all. */
  private async ofEnds(plan: PlanNode, { kind, operator, operand, value }: Quantified): Promise<TypedExpression> {
    if (value.type.kind === "struct") throw this.refused("compares structs by order");
    const ends = await endsOf(this.run(projected(plan, [value])), value.type);
    return comparedWithEnds(operand, operator, kind === "any", ends, this.environment);
  }

  /** Of a sub-query that looks for the row's partners: EXISTS, and IN where false and NULL are one. */
  private async ofPartners(call: SubQueryCall, isWhole: boolean): Promise<TypedExpression> {
    const { kind } = call.result;
    const join = kind === "exists" || (kind === "any" && isWhole) ? partnersBy(semiJoin(this.rows, call, false)) : undefined;
    if (join === undefined) {
      throw this.refused(`reads columns of ${this.tableName} in another way than EXISTS or IN with equalities, once a row`);
    }
    const found = await this.member(join, true);
    return { kind: "is", type: BOOLEAN, operand: found, test: "true", negated: false };
  }

  private async member(join: NodeOf<"join">, isWhole: boolean): Promise<TypedExpression> {
    return inTurns(memberOf(join.keys, await this.keysOf(join), this.environment, isWhole), this.parts.exec);
  }

  /** What the right side's rows are found by. */
  private async keysOf({ right, keys }: NodeOf<"join">): Promise<readonly KeyRow[]> {
    const plan = distinct(
      projected(
        right,
        keys.map((key) => key.right),
      ),
    );
    const { budget } = this.parts.exec;
    const rows: KeyRow[] = [];
    let bytes = 0;
    for await (const { rowCount, vectors } of this.run(plan)) {
      const before = bytes;
      for (let row = 0; row < rowCount; row++) {
        const values = vectors.map((vector, i) => owned(valueAt(vector, plan.columns[i]?.type ?? BOOLEAN, row)));
        for (const value of values) bytes += VALUE_BYTES + (typeof value === "string" || value instanceof Uint8Array ? value.length : 0);
        if (rows.push(values) > ROWS_MAX) throw this.tooLarge(`more than ${ROWS_MAX} different rows`);
        if (bytes > BYTES_MAX) throw this.tooLarge(`rows of more than ${BYTES_MAX} bytes`);
      }
      budget.reserve(bytes - before);
    }
    return rows;
  }

  private async *run(plan: PlanNode): AsyncGenerator<ExecBatch> {
    const { exec, travelled } = this.parts;
    for await (const batch of run(travelled(plan), exec)) {
      checkCancelled(exec);
      yield batch;
    }
  }

  private refused(what: string): DbError {
    return new DbError(
      StatusCode.Unsupported,
      `cannot delete from table ${this.tableName}: its rows are elsewhere, where the condition cannot be tested: a sub-query ${what}`,
    );
  }

  private tooLarge(what: string): DbError {
    return new DbError(
      StatusCode.Unsupported,
      `cannot delete from table ${this.tableName}: a sub-query of the condition gives ${what}, and each shard would be sent all of them; ` +
        "delete in parts",
    );
  }
}

const owned = (value: Value): Value => (value instanceof Uint8Array ? value.slice() : value);

/** A join that hangs on its keys alone. */
function partnersBy(node: PlanNode | undefined): NodeOf<"join"> | undefined {
  return node?.kind === "join" && node.keys.length > 0 && node.residual === undefined ? node : undefined;
}

function projected(input: PlanNode, expressions: readonly TypedExpression[]): PlanNode {
  return { kind: "project", input, columns: expressions.map(({ type }, i) => ({ name: `k${i}`, type })), expressions };
}

/** What comparisons by order need to know of values. */
interface Ends {
  readonly isEmpty: boolean;
  readonly hasNull: boolean;
  readonly type: TypedExpression["type"];
  /** Undefined without a value. */
  readonly least: Value;
  readonly greatest: Value;
}

async function endsOf(batches: AsyncIterable<ExecBatch>, type: TypedExpression["type"]): Promise<Ends> {
  let isEmpty = true;
  let hasNull = false;
  let least: Value;
  let greatest: Value;
  for await (const { rowCount, vectors } of batches) {
    const [vector] = vectors;
    if (vector === undefined) continue;
    for (let row = 0; row < rowCount; row++) {
      const value = valueAt(vector, type, row);
      isEmpty = false;
      if (value === undefined) {
        hasNull = true;
        continue;
      }
      if (least === undefined || compareValues(value, least) < 0) least = owned(value);
      if (greatest === undefined || compareValues(value, greatest) > 0) greatest = owned(value);
    }
  }
  return { isEmpty, hasNull, type, least, greatest };
}

function comparedWithEnds(
  operand: TypedExpression,
  operator: CompareOperator,
  isAny: boolean,
  { isEmpty, hasNull, type, least, greatest }: Ends,
  environment: Environment,
): TypedExpression {
  if (isEmpty) return literal(BOOLEAN, !isAny);
  const isBelow = operator === "<" || operator === "<=";
  const isEqual = operator === "=" || operator === "<>";
  // Equal to all, or unequal to any: that of both ends says it.
  const ends = isEqual ? [least, greatest] : [isBelow === isAny ? greatest : least];
  const tests = ends
    .filter((end): end is Present => end !== undefined)
    .map((end) => fold({ kind: "compare", type: BOOLEAN, operator, left: operand, right: literal(type, end) }, environment));
  if (hasNull) tests.push(literal(BOOLEAN, undefined));
  const [only, second] = tests;
  if (only !== undefined && second === undefined) return only;
  return fold({ kind: "logic", type: BOOLEAN, operator: isAny ? "or" : "and", operands: tests }, environment);
}
