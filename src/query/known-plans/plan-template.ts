/**
 * A plan of `SELECT … FROM table WHERE …` with holes where constants of the WHERE, or values of a prepared statement, decide:
 *
 *   sort ─ project ─ filter ─ scan { times, tags, … }        plan that was made once
 *                                    ▲      ▲
 *                     ts >= ␂ AND host = ␁                   conditions that a range of times or lists of tags say wholly
 *
 * Only such conditions are holes: nothing else of a plan reads what they come to (`plan/select/`: times go to the scan and to the walk from
 * the newest rows on, tags to the scan alone). For other constants they are bound and split again by the code that planned them first, and
 * all else of the plan stands. Each hole must come to the same kind of thing again; where it does not, or fails, there is no plan and the
 * statement is planned as a whole, which tells errors with their places.
 *
 * All other constants belong to what the plan is known by. So do the database, the time zone and the protocol; tables are compared by
 * identity with their schemas, which every change replaces. A statement whose plan hangs on the moment elsewhere than in a hole has none.
 */
import { DbError } from "../../base/error.ts";
import { atOnce } from "../../base/scheduler/pace.ts";
import type { Catalog, Table } from "../../table/catalog.ts";
import { ALL_TIME, type TimeRange } from "../../table/scan.ts";
import type { TableSchema } from "../../table/schema.ts";
import { conjunctsOf } from "../expression/expression.ts";
import type { Environment } from "../function/signature/environment.ts";
import { mayAnswerAtOnce } from "../operator/answer-at-once.ts";
import { inputsOf, type PlanNode } from "../operator/contract/node.ts";
import type { PlannedTagPredicate } from "../operator/scan/node.ts";
import { intersect, type SplitWhere, splitWhere } from "../operator/scan/split-where.ts";
import { bindCondition } from "../plan/bind/bind.ts";
import type { Scope } from "../plan/bind/scope.ts";
import type { PlannerSources } from "../plan/common/planner.ts";
import { resolveName, type ResolvedName, sourceOf } from "../plan/from/source.ts";
import { newPlanner } from "../plan/plan-query.ts";
import type { Expression, Select } from "../sql/syntax/ast.ts";
import type { TextConstant } from "./text-shape.ts";
import { hangsOnMoment, isQuery, placeholdersIn, someNode } from "./tree-tests.ts";
import { type ConstantNodes, conditionsOf, constantsIn, withConstants } from "./written-where.ts";

/** After so many statements in a row that were not answered at once, one of so many is tried: a try is 10 µs of work done twice. */
const SLOW_ONES_MAX = 8;
const TRIED_ONE_OF = 32;

/** What a part of a WHERE comes to that the scan says wholly. */
interface Exact {
  readonly timeRange: TimeRange;
  readonly tagPredicates: readonly PlannedTagPredicate[];
}

/** A condition of the WHERE: as it was, or to be bound again. */
type Part =
  | { readonly kind: "fixed"; readonly exact: Exact }
  | { readonly kind: "hole"; readonly condition: Expression; readonly nodes: ConstantNodes; readonly tags: number };

/** A statement's constants, and where they stand (`written-where.ts`). */
export interface WrittenConstants {
  readonly constants: readonly TextConstant[];
  readonly places: ReadonlyMap<string, number>;
}

/** See the file header. */
export class PlanTemplate {
  readonly statement: Select;
  /** Numbers of the constants, or of the placeholders, that stand in holes alone. */
  readonly free: ReadonlySet<number>;
  private readonly name: ResolvedName;
  private readonly table: Table;
  private readonly schema: TableSchema;
  private readonly scope: Scope;
  private readonly parts: readonly Part[];
  private readonly plan: PlanNode;
  private readonly isQuick: boolean;
  /** Statements in a row that could not be answered at once, and those that came since one was tried. */
  private slowOnes = 0;
  private passed = 0;

  /** @param made what `templateOf` found */
  constructor(made: {
    readonly statement: Select;
    readonly free: ReadonlySet<number>;
    readonly name: ResolvedName;
    readonly table: Table;
    readonly scope: Scope;
    readonly parts: readonly Part[];
    readonly plan: PlanNode;
  }) {
    this.statement = made.statement;
    this.free = made.free;
    this.name = made.name;
    this.table = made.table;
    this.schema = made.table.schema;
    this.scope = made.scope;
    this.parts = made.parts;
    this.plan = made.plan;
    this.isQuick = mayAnswerAtOnce(made.plan);
  }

  /** Whether to try to answer its statement within one turn. */
  triesAtOnce(): boolean {
    if (!this.isQuick) return false;
    if (this.slowOnes < SLOW_ONES_MAX) return true;
    this.passed = (this.passed + 1) % TRIED_ONE_OF;
    return this.passed === 0;
  }

  /** Notes what came of it. */
  triedAtOnce(isAnswered: boolean): void {
    this.slowOnes = isAnswered ? 0 : this.slowOnes + 1;
  }

  /** Whether its table is still the one that it was made for. */
  holds(catalog: Pick<Catalog, "table">): boolean {
    return catalog.table(this.name.database, this.name.table) === this.table && this.table.schema === this.schema;
  }

  /** The plan for other constants; undefined where the statement must be planned as a whole. The template must hold. */
  planFor(environment: Environment, constants: readonly TextConstant[]): PlanNode | undefined {
    let timeRange = ALL_TIME;
    const tagPredicates: PlannedTagPredicate[] = [];
    for (const part of this.parts) {
      const exact = part.kind === "fixed" ? part.exact : this.filled(part, environment, constants);
      if (exact === undefined) return undefined;
      timeRange = intersect(timeRange, exact.timeRange);
      for (const predicate of exact.tagPredicates) tagPredicates.push(predicate);
    }
    return withWanted(this.plan, { timeRange, tagPredicates });
  }

  private filled(
    { condition, nodes, tags }: Extract<Part, { kind: "hole" }>,
    environment: Environment,
    constants: readonly TextConstant[],
  ): Exact | undefined {
    try {
      const split = splitOf(withConstants(condition, nodes, constants), this.scope, environment, this.schema);
      return isExact(split) && split.tagPredicates.length === tags ? split : undefined;
    } catch (thrown) {
      if (thrown instanceof DbError) return undefined; // Told by the whole planning.
      throw thrown;
    }
  }
}

function splitOf(condition: Expression, scope: Scope, environment: Environment, schema: TableSchema): SplitWhere {
  return splitWhere(conjunctsOf(bindCondition(condition, "WHERE", { scope, environment })), schema);
}

/** Whether a range of times and lists of tags say all of it. */
function isExact({ residual, tagPredicates }: SplitWhere): boolean {
  return residual.length === 0 && tagPredicates.every(({ kind }) => kind === "in");
}

/** The same plan whose scan reads other times and tags. */
function withWanted(node: PlanNode, exact: Exact): PlanNode {
  if (node.kind === "scan") return { ...node, request: { ...node.request, ...exact } };
  if (!("input" in node)) return node;
  const input = withWanted(node.input, exact);
  return node.kind === "newest-first" ? { ...node, timeRange: exact.timeRange, input } : { ...node, input };
}

/** What a template is made of. */
interface Planned {
  readonly statement: Select;
  /** The plan of the statement, and what it was planned by. */
  readonly plan: PlanNode;
  readonly environment: Environment;
  readonly sources: PlannerSources;
  /** Of a text; undefined for a prepared statement, whose holes are its placeholders. */
  readonly written: WrittenConstants | undefined;
}

/** The template of a statement that was planned; undefined where its plan hangs on more than holes can say. */
export function templateOf(planned: Planned): PlanTemplate | undefined {
  try {
    return templateWith(planned);
  } catch (thrown) {
    if (thrown instanceof DbError) return undefined; // A condition that does not stand alone, or a table that went meanwhile.
    throw thrown;
  }
}

function templateWith({ statement, plan, environment, sources, written }: Planned): PlanTemplate | undefined {
  const { from, where } = statement;
  if (from?.kind !== "table" || statement.align !== undefined || scanBelow(plan) === undefined) return undefined;
  const source = atOnce(sourceOf(from, newPlanner(sources, environment, true)));
  const { table, scope, relation } = source;
  if (table === undefined || relation.kind !== "table") return undefined;
  const name = resolveName(from.name, environment.database);
  const parts: Part[] = [];
  const bound: Expression[] = [];
  const free = new Set<number>();
  for (const condition of where === undefined ? [] : conditionsOf(where)) {
    if (someNode(condition, isQuery)) return undefined;
    const split = splitOf(condition, scope, environment, table.schema);
    if (!isExact(split)) {
      bound.push(condition);
      parts.push({ kind: "fixed", exact: split });
      continue;
    }
    const nodes = written === undefined ? NO_NODES : constantsIn(condition, written.constants, written.places);
    for (const index of nodes.values()) free.add(index);
    if (written === undefined) for (const index of placeholdersIn(condition)) free.add(index);
    parts.push({ kind: "hole", condition, nodes, tags: split.tagPredicates.length });
  }
  const others = [{ ...statement, where: undefined }, ...bound];
  if (others.some((each) => someNode(each, isQuery) || someNode(each, hangsOnMoment))) return undefined;
  if (written === undefined) for (const each of others) for (const index of placeholdersIn(each)) free.delete(index);
  const made = new PlanTemplate({ statement, free, name, table, scope, parts, plan });
  // What the parts come to one by one is what the whole came to.
  const again = made.holds(sources.catalog) ? made.planFor(environment, written?.constants ?? []) : undefined;
  return again !== undefined && Bun.deepEquals(scanBelow(again)?.request, scanBelow(plan)?.request, true) ? made : undefined;
}

const NO_NODES: ConstantNodes = new Map();

/** The one scan of a plan that is a chain of operators. */
function scanBelow(node: PlanNode): Extract<PlanNode, { kind: "scan" }> | undefined {
  if (node.kind === "scan") return node;
  return "input" in node && inputsOf(node).length === 1 ? scanBelow(node.input) : undefined;
}
