/**
 * `and`, `or`, `unless`: which series of the left side have a match, step by step.
 */
import type { BinaryExpression } from "../../syntax/ast.ts";
import { cutPresent, unitePresent } from "../kernels/steps.ts";
import { labelsKey } from "../labels.ts";
import { MergedSeries } from "../merged-series.ts";
import type { Scope, StepSeries } from "../scope.ts";
import { signatureOf } from "./matching.ts";

/** The series of a set operation. @throws DbError */
export async function* setOperation(node: BinaryExpression, scope: Scope): AsyncGenerator<StepSeries> {
  if (node.operator === "or") {
    yield* union(node, scope);
    return;
  }
  const signature = signatureOf(node.matching);
  const right = new StepsBySignature(scope);
  for await (const { labels, present } of scope.query.vector(node.right, scope)) right.add(labelsKey(signature(labels)), present);
  const cuts = node.operator === "and" ? 0 : 1;
  for await (const series of scope.query.vector(node.left, scope)) {
    cutPresent(series.present, right.get(labelsKey(signature(series.labels))), cuts);
    if (series.present.includes(1)) yield series;
  }
  right.release();
}

async function* union(node: BinaryExpression, scope: Scope): AsyncGenerator<StepSeries> {
  const signature = signatureOf(node.matching);
  const left = new StepsBySignature(scope);
  const merged = new MergedSeries(scope);
  for await (const series of scope.query.vector(node.left, scope)) {
    left.add(labelsKey(signature(series.labels)), series.present);
    merged.add(series);
  }
  for await (const series of scope.query.vector(node.right, scope)) {
    cutPresent(series.present, left.get(labelsKey(signature(series.labels))), 1);
    if (series.present.includes(1)) merged.add(series);
  }
  yield* merged.take();
  left.release();
}

/** Steps at which any series of a signature has a value. */
class StepsBySignature {
  private readonly steps = new Map<string, Uint8Array>();
  private readonly scope: Scope;

  constructor(scope: Scope) {
    this.scope = scope;
  }

  private bytes(): number {
    return this.scope.moments.count + 128;
  }

  add(key: string, present: Uint8Array): void {
    const known = this.steps.get(key);
    if (known !== undefined) {
      unitePresent(known, present);
      return;
    }
    this.scope.query.run.reserve(this.bytes());
    this.steps.set(key, present.slice());
  }

  get(key: string): Uint8Array | undefined {
    return this.steps.get(key);
  }

  release(): void {
    this.scope.query.run.release(this.bytes() * this.steps.size);
  }
}
