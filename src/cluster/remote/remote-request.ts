/**
 * A scan as a plan for the node that has the rows. Tests of tags that the query layer planned go along; others, and those that only this
 * process can make, are made here on the series that come.
 */
import { encodePlan } from "../../query/operator/contract/plan-bytes.ts";
import { isClosedExpression } from "../../query/operator/parallel/fragment.ts";
import type { PlannedTagPredicate, PlannedRequest, ScanNode } from "../../query/operator/scan/node.ts";
import { PlannedTest } from "../../query/operator/scan/scan.ts";
import type { ScannedTable } from "../../table/catalog.ts";
import { columnNamed } from "../../table/not-found.ts";
import type { ScanRequest, TagPredicate } from "../../table/scan.ts";
import type { FragmentRequest } from "../wire/shard-request.ts";

/** What conditions of a plan are evaluated by. */
export type PlainEnvironment = FragmentRequest["environment"];

/** A test that stays here. */
export type OwnTest = Extract<TagPredicate, { kind: "test" }>;

/** A scan that is asked elsewhere. */
export interface AskedScan {
  readonly plan: Uint8Array<ArrayBuffer>;
  /** Undefined: no test goes along. */
  readonly environment: PlainEnvironment | undefined;
  /** What rows have to meet besides. */
  readonly ownTests: readonly OwnTest[];
}

/** Conditions on tags, as they go with a plan. */
interface AskedTags {
  readonly planned: readonly PlannedTagPredicate[];
  readonly environment: PlainEnvironment | undefined;
  readonly ownTests: readonly OwnTest[];
}

/** A request as a plan. @throws DbError TableColumnNotFound, Unsupported when it is too large */
export function askedScan(table: ScannedTable, request: ScanRequest): AskedScan {
  const { planned, environment, ownTests } = askedTags(request.tagPredicates);
  const { projection, timeRange, fieldBounds, fieldConditions, order, newestPerSeries, limit } = request;
  const asked: PlannedRequest = {
    projection,
    timeRange,
    tagPredicates: planned,
    fieldBounds,
    ...(fieldConditions === undefined ? {} : { fieldConditions }),
    order,
    ...(newestPerSeries === undefined ? {} : { newestPerSeries }),
    // Rows that are left out here do not count.
    ...(limit === undefined || ownTests.length > 0 ? {} : { limit }),
  };
  const { schema } = table;
  const columns = projection.map((name) => ({ name, type: columnNamed(schema, name).type }));
  const node: ScanNode = { kind: "scan", table, columns, request: asked, predicates: [] };
  return { plan: encodePlan(node), environment, ownTests };
}

/** Whether all conditions on tags can be tested elsewhere. */
export function mayTravel(predicates: readonly TagPredicate[]): boolean {
  return predicates.every((predicate) => predicate.kind === "in" || travels(predicate));
}

function travels({ planned }: OwnTest): boolean {
  return planned instanceof PlannedTest && isClosedExpression(planned.condition);
}

function askedTags(predicates: readonly TagPredicate[]): AskedTags {
  const planned: PlannedTagPredicate[] = [];
  const ownTests: OwnTest[] = [];
  let environment: PlainEnvironment | undefined;
  for (const predicate of predicates) {
    if (predicate.kind === "in") planned.push(predicate);
    else if (predicate.planned instanceof PlannedTest && travels(predicate)) {
      const { now, timeZone, database } = predicate.planned.environment;
      environment = { now, timeZone, database }; // All are of one query.
      planned.push({ kind: "test", column: predicate.column, condition: predicate.planned.condition });
    } else ownTests.push(predicate);
  }
  return { planned, environment, ownTests };
}
