/**
 * `and`, `or`, `unless`: which series of the left side have a match, step by step.
 */
import type { BinaryExpression } from "../../syntax/ast.ts";
import { cutPresent, hasStep, unitePresent } from "../kernels/steps.ts";
import { ByLabels, type LabelChoice } from "../by-labels.ts";
import { MergedSeries } from "../merged-series.ts";
import { isTurnDue, type Scope, type StepVectorMaker, takeTurn, together } from "../scope.ts";
import type { Labels } from "../series-source.ts";
import { choiceOf } from "./matching.ts";

/** The series of a set operation. @throws DbError */
export async function* setOperation(node: BinaryExpression, scope: Scope): StepVectorMaker {
  if (node.operator === "or") {
    yield* union(node, scope);
    return;
  }
  const { query } = scope;
  const right = new StepsBySignature(choiceOf(node.matching), scope);
  for await (const some of query.vector(node.right, scope)) {
    for (const { labels, present } of some) right.add(labels, present);
    if (isTurnDue(query)) await takeTurn(query);
  }
  const cuts = node.operator === "and" ? 0 : 1;
  for await (const some of query.vector(node.left, scope)) {
    if (isTurnDue(query)) await takeTurn(query);
    for (const series of some) cutPresent(series.present, right.get(series.labels), cuts);
    yield some.filter(({ present }) => hasStep(present));
  }
  right.release();
}

async function* union(node: BinaryExpression, scope: Scope): StepVectorMaker {
  const { query } = scope;
  const left = new StepsBySignature(choiceOf(node.matching), scope);
  const merged = new MergedSeries(scope);
  for await (const some of query.vector(node.left, scope)) {
    if (isTurnDue(query)) await takeTurn(query);
    for (const series of some) {
      left.add(series.labels, series.present);
      merged.add(series);
    }
  }
  for await (const some of query.vector(node.right, scope)) {
    if (isTurnDue(query)) await takeTurn(query);
    for (const series of some) {
      cutPresent(series.present, left.get(series.labels), 1);
      if (hasStep(series.present)) merged.add(series);
    }
  }
  yield* together(merged.take(), scope);
  left.release();
}

/** Steps at which any series of a signature has a value. */
class StepsBySignature {
  private readonly steps: ByLabels<Uint8Array>;
  private readonly scope: Scope;

  constructor(choice: LabelChoice, scope: Scope) {
    this.steps = new ByLabels(choice);
    this.scope = scope;
  }

  private bytes(): number {
    return this.scope.moments.count + 128;
  }

  add(labels: Labels, present: Uint8Array): void {
    const known = this.steps.getOrMake(labels, () => {
      this.scope.query.run.reserve(this.bytes());
      return new Uint8Array(present.length);
    });
    unitePresent(known, present);
  }

  get(labels: Labels): Uint8Array | undefined {
    return this.steps.get(labels);
  }

  release(): void {
    this.scope.query.run.release(this.bytes() * this.steps.all.length);
  }
}
