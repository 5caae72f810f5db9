/**
 * SELECT … RANGE … ALIGN → plan:
 *
 *   scan → filter → [overlap → [filter]] → aggregate by BY keys and slot → [fill-slots] → project → …
 *
 * A slot `s` aggregates the rows with `s ≤ time < s + range`. Where every range is as long as the slots are apart, that is a grouping by
 * time buckets. Else a row goes once to the bucket that it lies in and once to each bucket before it that still reaches it: `overlap`.
 * Calls with shorter ranges than the longest leave out, by a FILTER, rows that are too old for them.
 */
import { GROUP_KEYS_MAX } from "../../../base/limits.ts";
import { floorDivide } from "../../../value/civil.ts";
import type { FixedBuckets } from "../../function/time/buckets.ts";
import { NANOS_PER_UNIT } from "../../../value/time-units.ts";
import { type DataType, INT64, INTERVAL, TIMESTAMP_MILLISECOND, TIMESTAMP_NANOSECOND, type TimeUnit } from "../../../column/data-type.ts";
import type { ColumnHeader } from "../../../column/batch.ts";
import { functionNamed } from "../../function/registry.ts";
import type { AlignClause, Expression } from "../../sql/syntax/ast.ts";
import { printExpression } from "../../sql/print/print.ts";
import { containsAggregate, containsRange, containsWindow, rangesIn } from "../bind/ast-walk.ts";
import { bind } from "../bind/bind.ts";
import { castTo } from "../bind/coerce.ts";
import { conjunction, literal, mapColumns, type TypedExpression } from "../../expression/expression.ts";
import { groupKeyOf, placeKey } from "../common/group-keys.ts";
import { prunedInput } from "../select/input-plan.ts";
import { type AggregateCall, changedAggregate } from "../../operator/node-parts/aggregate-call.ts";
import type { FilledColumn } from "../../operator/fill/node.ts";
import type { GroupKey } from "../../operator/aggregate/node.ts";
import type { PlanNode } from "../../operator/contract/node.ts";
import { callExpressions } from "../select/plan-aggregate.ts";
import { notSupported, planError } from "../bind/plan-error.ts";
import { distinct } from "../../operator/aggregate/distinct-rows.ts";
import { statisticsFor } from "../rules/page-statistics.ts";
import { finish, finishFirstOf, orderedOutput, type SelectBody } from "../select/select-body.ts";
import type { Steps } from "../bind/steps.ts";
import { applied, SubQueries } from "../select/sub-queries.ts";
import { inZone } from "./in-zone.ts";
import { rangeError, rangeQueryError } from "../bind/range-error.ts";
import { RangeScope, type RangeCall } from "./range-scope.ts";
import { lengthMillis, originMillis, zoneOfDays } from "./range-length.ts";
import { timeColumnOf } from "./time-column.ts";

/** Most slots that a row may fall into. Reason: each costs as much as a row. Error: PlanQuery. */
const SLOTS_OF_ROW_MAX = 100_000n;

/** The slots of a query. */
interface Slots {
  /** Position of the time among the columns of the source. */
  readonly column: number;
  /** The time in the unit that slots are counted in, over the source. */
  readonly time: TypedExpression;
  readonly type: DataType;
  readonly buckets: FixedBuckets;
  readonly alignMillis: bigint;
}

/** The plan of a SELECT with ALIGN. @throws DbError InvalidSyntax, PlanQuery, EngineExecuteQuery */
export function* planRange(body: SelectBody, align: AlignClause): Steps<PlanNode> {
  const { select, input, items, limits, planner } = body;
  checkClauses(body);
  const keys = seriesKeys(body, align);
  const alignMillis = lengthMillis(align.every, planner.environment);
  const column = timeColumnOf(input.source);
  const time = timeOf(body, column);
  const slotType = slotTypeOf(body, align, time.type);
  const zone = zoneOfDays(align.to, alignMillis);
  const subQueries = new SubQueries(input.source.scope, planner);
  const scope = new RangeScope({ input: input.binder, keys, time, slotType, zone, fill: align.fill, subQueries });
  const output = yield* orderedOutput(body, scope.binder);
  const counted = castTo(zone === undefined ? time : inZone("in_time_zone_op", time, zone), slotType, planner.environment);
  const slots = slotsOf(column, counted, alignMillis, zone === undefined ? originMillis(align.to, planner.environment) : 0n);
  const grouped = filled(yield* aggregated(body, keys, scope.calls, slots), scope, keys.length, slots.buckets.width);
  const { node, place } =
    subQueries.calls.length === 0
      ? { node: grouped, place: (index: number) => index }
      : yield* applied(grouped, (index) => index, subQueries.calls, [], [], planner);
  const expressions = output.expressions.map((expression) => mapColumns(expression, place));
  const projected: PlanNode = { kind: "project", input: node, columns: output.columns, expressions };
  if (output.firstOf.length > 0) return finishFirstOf(projected, output, limits, items.length);
  return finish(select.distinct ? distinct(projected) : projected, output.order, limits, items.length);
}

function checkClauses({ select, items }: SelectBody): void {
  if (!items.some((item) => containsRange(item.expression)))
    throw rangeError("Illegal Range select, no RANGE keyword found in any SelectItem");
  for (const { expression } of [...items, ...select.orderBy]) {
    checkRanges(expression);
    if (containsWindow(expression)) throw rangeQueryError("Window functions is not allowed in Range Query");
  }
  if (select.groupBy.length > 0 || select.groupAll === true)
    throw rangeQueryError("GROUP BY does not go with ALIGN; name the keys in BY (…)");
  if (select.windows !== undefined || select.qualify !== undefined)
    throw rangeQueryError("WINDOW and QUALIFY do not go with ALIGN; put it into a sub-query of FROM");
  if (select.having !== undefined) throw rangeQueryError("HAVING does not go with ALIGN; filter it as a sub-query of FROM");
}

/** A RANGE stands behind aggregates that have none yet. */
function checkRanges(expression: Expression): void {
  for (const { operand } of rangesIn(expression)) {
    if (containsRange(operand)) throw rangeQueryError("Nest Range Query is not allowed");
    if (!containsAggregate(operand)) throw rangeError(`Can't use the RANGE keyword in Expr ${printExpression(operand)} without function`);
  }
}

/** What tells series apart: BY, or the primary key of the table. */
function seriesKeys({ input }: SelectBody, { by }: AlignClause): readonly TypedExpression[] {
  const { source, binder } = input;
  if (by !== undefined) {
    if (by.length > GROUP_KEYS_MAX) throw planError(`BY has ${by.length} keys; it may have ${GROUP_KEYS_MAX}`);
    return by.map((expression) => {
      if (containsAggregate(expression)) throw planError(`aggregates are not allowed in BY: ${printExpression(expression)}`);
      return bind(expression, binder);
    });
  }
  const { table } = source;
  if (table === undefined) throw rangeQueryError("Cannot infer default BY columns from derived range query input");
  return table.schema.columns.flatMap(({ semantic }, index) => (semantic === "tag" ? (source.scope[index]?.expression ?? []) : []));
}

/** The time of a row, as its name is bound. */
function timeOf({ input }: SelectBody, index: number): TypedExpression {
  const header = input.source.columns[index];
  return { kind: "column", type: header?.type ?? TIMESTAMP_MILLISECOND, index, name: header?.name ?? "" };
}

/** Slots of a time in seconds may begin between them, and are counted in milliseconds then. */
function slotTypeOf({ planner }: SelectBody, align: AlignClause, type: DataType): DataType {
  if (type.kind !== "timestamp" || type.unit !== "second") return type;
  const parts = [lengthMillis(align.every, planner.environment), originMillis(align.to, planner.environment)];
  return parts.every((millis) => millis % 1000n === 0n) ? type : TIMESTAMP_MILLISECOND;
}

function slotsOf(column: number, time: TypedExpression, alignMillis: bigint, origin: bigint): Slots {
  const unit: TimeUnit = time.type.kind === "timestamp" ? time.type.unit : "millisecond";
  const inUnit = (millis: bigint): bigint => (millis * NANOS_PER_UNIT.millisecond) / NANOS_PER_UNIT[unit];
  const buckets: FixedBuckets = { kind: "fixed", unit, width: inUnit(alignMillis), origin: inUnit(origin) };
  return { column, time, type: time.type, buckets, alignMillis };
}

/** Calls by slot and keys: columns are the keys, the slot, the calls. */
function* aggregated(body: SelectBody, keys: readonly TypedExpression[], calls: readonly RangeCall[], slots: Slots): Steps<PlanNode> {
  const { input, planner } = body;
  const { table } = input.source;
  const optimised = planner.optimise && table !== undefined && input.subQueries.calls.length === 0 ? table : undefined;
  const longest = calls.reduce((most, { rangeMillis }) => (rangeMillis > most ? rangeMillis : most), 0n);
  const differ = calls.some(({ rangeMillis }) => rangeMillis !== longest);
  const ages = differ || longest % slots.alignMillis !== 0n;
  const copies = -floorDivide(-longest, slots.alignMillis);
  if (copies > SLOTS_OF_ROW_MAX)
    throw planError(`a RANGE of ${copies} slots; it may be at most ${SLOTS_OF_ROW_MAX} times as long as ALIGN`);
  const overlaps = ages || copies > 1n || !planner.optimise;
  const planned = keys.map((key): GroupKey => (optimised === undefined ? rowKey(key) : groupKeyOf(key, optimised.schema)));
  const slot: GroupKey =
    optimised !== undefined && slots.time.kind === "column"
      ? { kind: "bucket", type: slots.type, column: slots.column, buckets: slots.buckets }
      : rowKey(bucketStart(slots.time, slots.buckets));
  const plain = calls.map(({ call }) => call);
  const needed = [...keys.filter((_, i) => planned[i]?.kind !== "series"), ...plain.flatMap(callExpressions), slots.time];
  const all = [...planned, slot];
  const statistics = overlaps || optimised === undefined ? undefined : statisticsFor(all, plain, input.split.residual, optimised.schema);
  const pruned = yield* prunedInput(input, needed, statistics === undefined ? {} : { summaries: statistics });
  const timed = optimised === undefined ? withTime(pruned.node, pruned.place(slots.time)) : pruned.node;
  const columns: ColumnHeader[] = [
    ...keys.map(({ type }, i) => ({ name: `key ${i}`, type })),
    { name: "slot", type: slots.type },
    ...plain.map((call) => ({ name: call.function.name, type: call.type.result })),
  ];
  const base = { kind: "aggregate", columns, table: optimised } as const;
  const placed = plain.map((call) => changedAggregate(call, pruned.place));
  if (!overlaps) return { ...base, input: timed, keys: all.map((key) => placeKey(key, pruned.place)), aggregates: placed };
  const node = overlap(timed, pruned.place(slots.time), slots, Number(copies), ages);
  const width = timed.columns.length;
  const time: TypedExpression = { kind: "column", type: slots.type, index: width, name: "slot time" };
  const overlapped: GroupKey = slot.kind === "bucket" ? { ...slot, column: width } : rowKey(bucketStart(time, slots.buckets));
  return {
    ...base,
    input:
      longest % slots.alignMillis === 0n
        ? node
        : { kind: "filter", input: node, columns: node.columns, predicate: younger(width, longest) },
    keys: [...planned.map((key) => placeKey(key, pruned.place)), overlapped],
    aggregates: placed.map((call, i) => within(call, width, calls[i]?.rangeMillis ?? longest, longest)),
  };
}

const rowKey = (expression: TypedExpression): GroupKey => ({ kind: "row", type: expression.type, expression });

/** Rows without a time fall into no slot. Those of a table have one. */
function withTime(input: PlanNode, time: TypedExpression): PlanNode {
  const predicate: TypedExpression = { kind: "is", type: { kind: "boolean" }, operand: time, test: "null", negated: true };
  return { kind: "filter", input, columns: input.columns, predicate };
}

function overlap(input: PlanNode, time: TypedExpression, { type, buckets }: Slots, copies: number, ages: boolean): PlanNode {
  const columns = [...input.columns, { name: "slot time", type }, ...(ages ? [{ name: "slot age", type: INT64 }] : [])];
  return { kind: "overlap", input, columns, time, buckets, copies, ages };
}

/** Whether a row is younger than that many milliseconds. @param width columns before those of the overlap */
function younger(width: number, millis: bigint): TypedExpression {
  const left: TypedExpression = { kind: "column", type: INT64, index: width + 1, name: "slot age" };
  return { kind: "compare", type: { kind: "boolean" }, operator: "<", left, right: literal(INT64, Number(millis)) };
}

function within(call: AggregateCall, width: number, range: bigint, longest: bigint): AggregateCall {
  if (range === longest) return call;
  const young = younger(width, range);
  return { ...call, filter: conjunction(call.filter === undefined ? [young] : [call.filter, young]) };
}

/** `date_bin` over a time. */
function bucketStart(time: TypedExpression, { width, origin, unit }: FixedBuckets): TypedExpression {
  const bin = functionNamed("date_bin");
  const functionType = bin?.resolve([INTERVAL, time.type, TIMESTAMP_NANOSECOND]);
  if (bin === undefined || functionType === undefined) throw notSupported("slots of this time");
  const stride = literal(INTERVAL, { months: 0, days: 0, nanos: width * NANOS_PER_UNIT[unit] });
  const args = [stride, time, literal(TIMESTAMP_NANOSECOND, origin * NANOS_PER_UNIT[unit])];
  return { kind: "call", type: functionType.result, function: bin, functionType, args };
}

/** Series without gaps, when a call asks for it. */
function filled(input: PlanNode, { calls, items }: RangeScope, keyCount: number, width: bigint): PlanNode {
  if (items.every(({ rule }) => rule.kind === "none")) return input;
  const first = keyCount + 1;
  const columns = [
    ...input.columns.slice(0, first),
    ...items.map(({ call, type }) => ({ name: input.columns[first + call]?.name ?? "", type })),
  ];
  const filledItems = items.map(({ call, rule }): FilledColumn => {
    const found = calls[call]?.call;
    return { column: first + call, rule, empty: found?.function.create(found.type, () => undefined).result() };
  });
  return { kind: "fill-slots", input, columns, keyCount, width, items: filledItems };
}
