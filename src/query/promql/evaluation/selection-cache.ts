/**
 * Series of selectors. A selector that stands in a query more than once is read once and kept, counted; any other streams through.
 */
import type { Expression, VectorSelector } from "../syntax/ast.ts";
import type { EvaluationRun, SampledSeries, SelectorRead, SeriesSource } from "./series-source.ts";

/** See the file header. */
export class SelectionCache {
  private readonly kept = new Map<string, Promise<readonly SampledSeries[]>>();
  private readonly uses = new Map<string, number>();

  constructor(expression: Expression) {
    countSelectors(expression, this.uses);
  }

  /** Arrays are borrowed until the next series, and never changed. @throws DbError */
  async *read(selector: VectorSelector, read: SelectorRead, source: SeriesSource, run: EvaluationRun): AsyncGenerator<SampledSeries> {
    const key = selectorKey(selector);
    if ((this.uses.get(key) ?? 0) < 2) {
      yield* source.select(read, run);
      return;
    }
    const full = `${read.firstMillis} ${read.lastMillis} ${key}`;
    let series = this.kept.get(full);
    if (series === undefined) {
      series = copied(source.select(read, run), run);
      this.kept.set(full, series);
    }
    yield* await series;
  }
}

async function copied(series: AsyncIterable<SampledSeries>, run: EvaluationRun): Promise<readonly SampledSeries[]> {
  const all: SampledSeries[] = [];
  for await (const { labels, count, times, values, histograms } of series) {
    run.reserve(count * 16 + 256);
    all.push({ labels, count, times: times.slice(0, count), values: values.slice(0, count), histograms: histograms?.slice(0, count) });
  }
  return all;
}

function selectorKey({ matchers }: VectorSelector): string {
  return JSON.stringify(matchers);
}

function countSelectors(node: Expression, uses: Map<string, number>): void {
  switch (node.kind) {
    case "VectorSelector": {
      const key = selectorKey(node);
      uses.set(key, (uses.get(key) ?? 0) + 1);
      return;
    }
    case "MatrixSelector":
      return countSelectors(node.selector, uses);
    case "SubqueryExpression":
    case "ParenExpression":
    case "UnaryExpression":
      return countSelectors(node.expression, uses);
    case "AggregateExpression":
      if (node.parameter !== undefined) countSelectors(node.parameter, uses);
      return countSelectors(node.expression, uses);
    case "BinaryExpression":
      countSelectors(node.left, uses);
      return countSelectors(node.right, uses);
    case "Call":
      for (const arg of node.args) countSelectors(arg, uses);
      return;
    case "NumberLiteral":
    case "StringLiteral":
      return;
  }
}
