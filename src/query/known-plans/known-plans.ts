/**
 * Plans of statements that came lately, for all protocols: a query whose constants alone are others is neither parsed nor planned as a
 * whole.
 *
 *   text ─► shape (text-shape.ts) ─► pinned constants ─► template (plan-template.ts) ─► plan
 *           + database, time zone, protocol               one of some tables, while their schemas stand
 *
 * A shape that came once is tried with its first statement; one whose plan no template can give is kept as such, so that it is tried once.
 * Templates are let go least lately used first. They hold nothing of a table's rows.
 */
import type { MemoryHolder } from "../../base/memory/server-memory.ts";
import { displayName } from "../../column/data-type.ts";
import type { Environment } from "../function/signature/environment.ts";
import { valueKey } from "../function/value/value.ts";
import type { PlanNode } from "../operator/contract/node.ts";
import { environmentOf } from "../plan/common/planner.ts";
import { withObjects } from "../plan/virtual/with-objects.ts";
import type { ParameterValue, PreparedQuery } from "../prepared-query.ts";
import type { QueryContext } from "../query-context.ts";
import type { Select } from "../sql/syntax/ast.ts";
import type { Statement } from "../sql/syntax/statement-ast.ts";
import { type PlanTemplate, templateOf } from "./plan-template.ts";
import { PreparedTexts } from "./prepared-texts.ts";
import { shapeOf, type TextConstant, type TextShape } from "./text-shape.ts";
import { placesOf } from "./written-where.ts";

/** Most templates of a shape. Reason: constants that plans hang on, such as LIMIT, take few values where a shape is sent often. */
const VARIANTS_MAX = 16;
/** What a template and a shape hold, beside their texts: tree and plan take some 60 bytes a character. Measured: 3 to 10 KiB a template. */
const TEMPLATE_BYTES = 2048;
const BYTES_PER_CHARACTER = 64;
const SHAPE_BYTES = 512;

/** A plan that need not be made, and what it was made for. */
export interface KnownPlan {
  readonly kind: "known";
  /** Of an equal shape: for what a statement of it needs. Its constants may be others. */
  readonly statement: Select;
  readonly plan: PlanNode;
  readonly environment: Environment;
}

/** A plan that may be answered within one turn. */
export interface QuickPlan {
  readonly statement: Select;
  readonly plan: PlanNode;
  /** Say whether it was: one that seldom is, is not tried each time. */
  answered(isAnswered: boolean): void;
}

/** What of a query is asked to find its plan. */
export type PlanContext = Pick<QueryContext, "catalog" | "clock" | "variables">;

/** A plan that was just made, and by what. */
export type MadePlan = Pick<KnownPlan, "plan" | "environment">;

/** A text whose plan is not known. */
export interface NewText {
  readonly kind: "new";
  /** Call it with the plan of its one statement. */
  keep(statement: Statement, made: MadePlan): void;
}

/** The templates of one shape, or of one prepared statement. */
class Shape {
  /** Constants that templates are known by; undefined: no template gives plans of this shape. */
  readonly pinned: readonly number[] | undefined;
  private readonly ownBytes: number;
  private readonly templateBytes: number;
  /** Least lately made first. */
  private readonly variants: Map<string, PlanTemplate> = new Map();

  constructor(pinned: readonly number[] | undefined, characters: number) {
    this.pinned = pinned;
    this.ownBytes = SHAPE_BYTES + 2 * characters;
    this.templateBytes = TEMPLATE_BYTES + BYTES_PER_CHARACTER * characters;
  }

  get bytes(): number {
    return this.ownBytes + this.variants.size * this.templateBytes;
  }

  /** The template of a variant that may be answered at once, if it holds and that is worth a try. */
  quickOf(variant: string, { catalog }: PlanContext): PlanTemplate | undefined {
    const template = this.variants.get(variant);
    return template?.triesAtOnce() === true && template.holds(catalog) ? template : undefined;
  }

  /** The plan of a template, if there is one that holds. */
  planOf(variant: string, context: QueryContext, constants: readonly TextConstant[]): KnownPlan | undefined {
    const template = this.variants.get(variant);
    if (template?.holds(context.catalog) !== true) return undefined;
    const environment = withObjects(environmentOf(context.clock, context.variables), context);
    const plan = template.planFor(environment, constants);
    return plan === undefined ? undefined : { kind: "known", statement: template.statement, plan, environment };
  }

  add(variant: string, template: PlanTemplate): void {
    this.variants.delete(variant);
    this.variants.set(variant, template);
    for (const oldest of this.variants.keys()) {
      if (this.variants.size <= VARIANTS_MAX) return;
      this.variants.delete(oldest);
    }
  }
}

/** See the file header. */
export class KnownPlans implements MemoryHolder {
  /** Plans that were there and that were not. Texts that have no shape count nowhere. */
  hits = 0;
  misses = 0;
  private readonly bytesMax: number;
  /** Least lately used first. */
  private readonly shapes: Map<string, Shape> = new Map();
  /** Gone with their statements, of which a connection has `PREPARED_MAX` at most. */
  private readonly prepared: WeakMap<PreparedQuery, Shape> = new WeakMap();
  private readonly texts: PreparedTexts = new PreparedTexts();
  private used = 0;

  /** @param bytesMax 0: nothing is kept */
  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /** Bytes that templates of texts hold, about. */
  bytes(): number {
    return this.used;
  }

  /** Lets go of what was used least lately, about as many bytes. */
  giveBack(bytes: number): void {
    this.shrinkTo(Math.max(0, this.used - bytes));
  }

  /** How many shapes are known. */
  get size(): number {
    return this.shapes.size;
  }

  /** The plan of a text, or how to make it known; undefined for a text that is of no use here. */
  ofText(text: string, context: QueryContext): KnownPlan | NewText | undefined {
    const shaped = this.bytesMax === 0 ? undefined : shapeOf(text);
    if (shaped === undefined) return undefined;
    const key = keyOf(shaped, context);
    const shape = this.shapes.get(key);
    const known = shape?.pinned && shape.planOf(pinnedText(shape.pinned, shaped.constants), context, shaped.constants);
    if (shape !== undefined) {
      this.shapes.delete(key);
      this.shapes.set(key, shape);
    }
    if (known !== undefined) {
      this.hits++;
      return known;
    }
    this.misses++;
    if (shape !== undefined && shape.pinned === undefined) return undefined;
    return { kind: "new", keep: (statement, made) => this.keepText({ key, text, shaped }, statement, made, context) };
  }

  /** The plan of a text that may be answered within one turn; undefined: it is run as others are, or not known. */
  quickOfText(text: string, context: PlanContext): QuickPlan | undefined {
    const shaped = this.bytesMax === 0 ? undefined : shapeOf(text);
    if (shaped === undefined) return undefined;
    const key = keyOf(shaped, context);
    const shape = this.shapes.get(key);
    const template = shape?.pinned && shape.quickOf(pinnedText(shape.pinned, shaped.constants), context);
    if (shape === undefined || template === undefined) return undefined;
    this.shapes.delete(key);
    this.shapes.set(key, shape);
    return this.quick(template, context, shaped.constants);
  }

  /** As `quickOfText`, of a prepared statement. @param context has the values */
  quickOfPrepared(query: PreparedQuery, values: readonly ParameterValue[], context: PlanContext): QuickPlan | undefined {
    const shape = this.bytesMax === 0 ? undefined : this.prepared.get(query);
    const template = shape?.pinned && shape.quickOf(preparedKey(shape.pinned, values, context), context);
    return template && this.quick(template, context, []);
  }

  private quick(template: PlanTemplate, context: PlanContext, constants: readonly TextConstant[]): QuickPlan | undefined {
    const plan = template.planFor(withObjects(environmentOf(context.clock, context.variables), context), constants);
    if (plan === undefined) return undefined;
    const answered = (isAnswered: boolean): void => {
      template.triedAtOnce(isAnswered);
      if (isAnswered) this.hits++;
    };
    return { statement: template.statement, plan, answered };
  }

  /** What was prepared of a text lately; undefined where it must be prepared. */
  preparedOf(text: string, context: QueryContext): PreparedQuery | undefined {
    return this.bytesMax === 0 ? undefined : this.texts.find(text, context);
  }

  /** Says what was prepared of a text. */
  keepPreparedText(text: string, query: PreparedQuery, context: QueryContext): void {
    if (this.bytesMax > 0) this.texts.keep(text, query, context);
  }

  /** The plan of a prepared statement with values; undefined where it is not known. @param context has the values */
  ofPrepared(query: PreparedQuery, values: readonly ParameterValue[], context: QueryContext): KnownPlan | undefined {
    const shape = this.bytesMax === 0 ? undefined : this.prepared.get(query);
    if (shape?.pinned === undefined) return undefined;
    const known = shape.planOf(preparedKey(shape.pinned, values, context), context, []);
    if (known === undefined) this.misses++;
    else this.hits++;
    return known;
  }

  /** Makes the plan of a prepared statement known. @param context has the values */
  keepPrepared(query: PreparedQuery, values: readonly ParameterValue[], context: QueryContext, made: MadePlan): void {
    const { statement } = query;
    const known = this.prepared.get(query);
    if (this.bytesMax === 0 || statement.kind !== "select" || (known !== undefined && known.pinned === undefined)) return;
    const template = templateOf({ ...made, statement, sources: context, written: undefined });
    const pinned = template && [...values.keys()].filter((index) => !template.free.has(index));
    const shape = known ?? new Shape(pinned, query.text.length);
    this.prepared.set(query, shape);
    if (template === undefined || pinned === undefined || !sameNumbers(shape.pinned, pinned)) return;
    shape.add(preparedKey(pinned, values, context), template);
  }

  private keepText({ key, text, shaped: { constants } }: AskedText, statement: Statement, made: MadePlan, context: QueryContext): void {
    if (statement.kind !== "select") return;
    const written = { constants, places: placesOf(text, constants) };
    const template = templateOf({ ...made, statement, sources: context, written });
    const pinned = template && [...constants.keys()].filter((index) => !template.free.has(index));
    const known = this.shapes.get(key);
    const shape = known ?? new Shape(pinned, key.length);
    const before = known?.bytes ?? 0;
    this.shapes.set(key, shape);
    if (template !== undefined && pinned !== undefined && sameNumbers(shape.pinned, pinned)) {
      shape.add(pinnedText(pinned, constants), template);
    }
    this.used += shape.bytes - before;
    this.shrinkTo(this.bytesMax);
  }

  private shrinkTo(bytesMax: number): void {
    for (const [oldest, { bytes }] of this.shapes) {
      if (this.used <= bytesMax) return;
      this.shapes.delete(oldest);
      this.used -= bytes;
    }
  }
}

interface AskedText {
  readonly key: string;
  readonly text: string;
  readonly shaped: TextShape;
}

function keyOf({ shape }: TextShape, { variables: { database, timeZone, connection } }: PlanContext): string {
  return `${connection?.protocol ?? ""}\n${database}\n${timeZone}\n${shape}`;
}

/** The constants that templates of a shape are known by, as one text. */
function pinnedText(pinned: readonly number[], constants: readonly TextConstant[]): string {
  let text = "";
  for (const index of pinned) {
    const constant = constants[index]?.text ?? "";
    text += `${constant.length}:${constant}`;
  }
  return text;
}

/** What templates of a prepared statement are known by: values that plans hang on, and the session. */
function preparedKey(pinned: readonly number[], values: readonly ParameterValue[], { variables }: PlanContext): string {
  if (pinned.length === 0) return `${variables.database}\n${variables.timeZone}`; // Neither has line ends.
  const known = pinned.map((index) => {
    const given = values[index];
    return given === undefined ? "" : `${displayName(given.type)} ${valueKey(given.value)}`;
  });
  return JSON.stringify([variables.database, variables.timeZone, ...known]);
}

function sameNumbers(a: readonly number[] | undefined, b: readonly number[]): boolean {
  return a !== undefined && a.length === b.length && a.every((each, i) => each === b[i]);
}
