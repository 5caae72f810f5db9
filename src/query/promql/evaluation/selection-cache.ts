/**
 * Series of selectors. A selector that stands in a query more than once is read once and kept, counted; any other streams through.
 */
import type { Expression, VectorSelector } from "../syntax/ast.ts";
import { bytesOfHistograms } from "./histogram/bytes.ts";
import type { EvaluationRun, SampledSeries, SelectorRead, SeriesSource } from "./series-source.ts";
import { type WantedLabels, wantedLabels } from "./wanted-labels.ts";

/** See the file header. */
export class SelectionCache {
  private readonly kept = new Map<string, Promise<readonly SampledSeries[]>>();
  private readonly uses = new Map<string, number>();
  private readonly wanted: WantedLabels;

  constructor(expression: Expression) {
    const selectors: VectorSelector[] = [];
    listSelectors(expression, selectors);
    // The only one needs no key, which takes longer to make than a query of one series has for it.
    if (selectors.length > 1) for (const key of selectors.map(selectorKey)) this.uses.set(key, (this.uses.get(key) ?? 0) + 1);
    this.wanted = wantedLabels(expression);
  }

  /** Arrays are borrowed until the next series, and never changed. @throws DbError */
  read(selector: VectorSelector, read: SelectorRead, source: SeriesSource, run: EvaluationRun): AsyncIterable<Iterable<SampledSeries>> {
    const key = this.uses.size === 0 ? "" : selectorKey(selector);
    // Handed on as it is: a generator around it costs as much as a rate.
    if ((this.uses.get(key) ?? 0) < 2) return source.select({ ...read, labels: this.wanted.get(selector) }, run);
    return this.copiesOf(key, read, source, run);
  }

  private async *copiesOf(
    key: string,
    read: SelectorRead,
    source: SeriesSource,
    run: EvaluationRun,
  ): AsyncGenerator<Iterable<SampledSeries>> {
    const full = `${read.firstMillis} ${read.lastMillis} ${read.newestOnly === true} ${key}`;
    let series = this.kept.get(full);
    if (series === undefined) {
      series = copied(source.select(read, run), run);
      this.kept.set(full, series);
    }
    yield await series;
  }
}

async function copied(groups: AsyncIterable<Iterable<SampledSeries>>, run: EvaluationRun): Promise<readonly SampledSeries[]> {
  const all: SampledSeries[] = [];
  for await (const group of groups) {
    for (const { labels, count, times, values, histograms, starts } of group) {
      const kept = histograms?.slice(0, count);
      run.reserve(count * (starts === undefined ? 16 : 24) + 256 + bytesOfHistograms(kept));
      const arrays = { times: times.slice(0, count), values: values.slice(0, count), starts: starts?.slice(0, count) };
      all.push({ labels, count, ...arrays, histograms: kept });
      if (run.pace.isDue()) await run.pace.turn();
    }
  }
  return all;
}

function selectorKey({ matchers }: VectorSelector): string {
  return JSON.stringify(matchers);
}

function listSelectors(node: Expression, selectors: VectorSelector[]): void {
  switch (node.kind) {
    case "VectorSelector":
      selectors.push(node);
      return;
    case "MatrixSelector":
      return listSelectors(node.selector, selectors);
    case "SubqueryExpression":
    case "ParenExpression":
    case "UnaryExpression":
      return listSelectors(node.expression, selectors);
    case "AggregateExpression":
      if (node.parameter !== undefined) listSelectors(node.parameter, selectors);
      return listSelectors(node.expression, selectors);
    case "BinaryExpression":
      listSelectors(node.left, selectors);
      return listSelectors(node.right, selectors);
    case "Call":
      for (const arg of node.args) listSelectors(arg, selectors);
      return;
    case "NumberLiteral":
    case "StringLiteral":
      return;
  }
}
