/**
 * A condition as steps that leave fewer and fewer rows: what a loop tells first, then what reads texts, the cheapest first, each over the
 * rows that are left. What only the interpreter computes comes last.
 *
 *   code = 7 AND url LIKE '%google%' AND url <> ''      loop: code = 7 ─► url <> '' ─► url LIKE '%google%'
 */
import type { Batch } from "../../column/batch.ts";
import type { PickedRows } from "../../column/texts.ts";
import { columnsOf, conjunction, conjunctsOf, type TypedExpression } from "./expression.ts";
import { constantsOf, isLifted, layoutKey, type Loop, type LoopParts, Loops, tablesOf, vectorsOfLoop } from "./loops.ts";
import { type ColumnRun, columnRun, readsTexts } from "./text-columns.ts";
import type { Vector } from "../../column/vector.ts";

/** Writes the rows that meet a condition to `S` and gives how many they are. */
export type FilterLoop = (V: readonly Vector[], P: unknown, T: unknown, n: number, S: Uint32Array) => number;

/** The steps for one layout of batches. */
export interface FilterSteps {
  /** The loops of what is no test of texts; undefined: there is nothing else. */
  readonly loops: Loops<FilterLoop> | undefined;
  readonly tests: readonly ColumnRun[];
  /** What only the interpreter computes, over the rows that are left; undefined: nothing, or all of it. */
  readonly slow: TypedExpression | undefined;
}

/** Steps of one condition by the layout of batches. */
export class StepsByLayout {
  private readonly byLayout = new Map<string, FilterSteps>();
  private readonly predicate: TypedExpression;
  private readonly parts: LoopParts;
  private readonly columns: readonly number[];

  constructor(predicate: TypedExpression, parts: LoopParts) {
    this.predicate = predicate;
    this.parts = parts;
    this.columns = [...columnsOf(predicate)];
  }

  /** The steps for batches laid out like this one. */
  of(batch: Batch): FilterSteps {
    const key = layoutKey(batch, this.columns);
    const known = this.byLayout.get(key);
    if (known !== undefined) return known;
    const made = stepsOf(this.predicate, batch, this.parts);
    this.byLayout.set(key, made);
    return made;
  }
}

function stepsOf(predicate: TypedExpression, batch: Batch, parts: LoopParts): FilterSteps {
  const rest: TypedExpression[] = [];
  const tests: { readonly run: ColumnRun; readonly cost: number }[] = [];
  if (!parts.context.interpretOnly) {
    for (const conjunct of conjunctsOf(predicate)) {
      const run = readsTexts(conjunct) && !isLifted(conjunct, batch) ? columnRun(conjunct, parts.columns) : undefined;
      if (run === undefined) rest.push(conjunct);
      else tests.push({ run, cost: costOf(conjunct) });
    }
  }
  tests.sort((a, b) => a.cost - b.cost);
  const runs = tests.map(({ run }) => run);
  if (parts.context.interpretOnly) return { loops: new Loops(predicate, parts), tests: runs, slow: undefined };
  const all = loopsOf(rest, parts);
  if (all === undefined || all.of(batch) !== undefined) return { loops: all, tests: runs, slow: undefined };
  const quick = new Set(rest.filter((conjunct) => new Loops<FilterLoop>(conjunct, parts).canRun(batch)));
  // Without a step before it, all of the condition is for the interpreter.
  if (quick.size === 0 && runs.length === 0) return { loops: all, tests: runs, slow: undefined };
  const slow = conjunction(rest.filter((conjunct) => !quick.has(conjunct)));
  return { loops: loopsOf([...quick], parts), tests: runs, slow };
}

function loopsOf(conjuncts: readonly TypedExpression[], parts: LoopParts): Loops<FilterLoop> | undefined {
  const all = conjunction(conjuncts);
  return all === undefined ? undefined : new Loops(all, parts);
}

/** How long a test takes beside others: comparisons look at some bytes, patterns at all. */
function costOf(expression: TypedExpression): number {
  if (expression.kind === "call") return 3;
  return expression.kind === "like" ? 2 : 1;
}

/** Writes the rows that meet the steps, `slow` left out, to `selection`; gives how many, -1 where the interpreter has to say all. */
export function runSteps({ loops, tests }: FilterSteps, batch: Batch, selection: Uint32Array): number {
  let count = -1;
  if (loops !== undefined) {
    const loop = loops.of(batch);
    count = loop === undefined ? -1 : runLoop(loop, batch, selection);
    if (count <= 0) return count;
  }
  for (const test of tests) {
    const picked: PickedRows | undefined = count < 0 || count === batch.rowCount ? undefined : { selection, count };
    const operand = test(batch, picked);
    if (operand?.kind !== "numbers") return -1;
    const { values, validity } = operand;
    const rowCount = picked?.count ?? batch.rowCount;
    let kept = 0;
    for (let i = 0; i < rowCount; i++) {
      const row = picked === undefined ? i : (selection[i] as number);
      selection[kept] = row;
      if (values[i] !== 0 && (validity === undefined || validity[i] !== 0)) kept++;
    }
    count = kept;
    if (count === 0) return 0;
  }
  return count;
}

function runLoop(loop: Loop<FilterLoop>, batch: Batch, selection: Uint32Array): number {
  const vectors = vectorsOfLoop(loop, batch);
  if (vectors === undefined) return -1;
  return loop.run(vectors, constantsOf(loop.text.constants, batch), tablesOf(loop, batch), batch.rowCount, selection);
}
