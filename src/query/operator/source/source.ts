/** Rows that the server computes itself. */
import { assert } from "../../../base/assert.ts";
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import type { Batch } from "../../../column/batch.ts";
import { newScanMetrics } from "../../../table/scan.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import type { SourceNode } from "./node.ts";

/** The rows of a source. */
export async function* source(node: SourceNode, context: ExecContext): AsyncIterable<ExecBatch> {
  for await (const batch of rowsOf(node, context)) {
    checkCancelled(context);
    yield batch;
    await context.pace.turn();
  }
}

function rowsOf(node: SourceNode, context: ExecContext): Iterable<Batch> | AsyncIterable<Batch> {
  const { source: from, columns, rowsWanted } = node;
  switch (from.kind) {
    case "one-row":
      return [{ rowCount: 1, vectors: [] }];
    case "no-rows":
      return [];
    case "values":
      return [from];
    case "working": {
      const round = context.rounds?.get(from.of);
      assert(round !== undefined, `rows of a round are read within their query; got ${from.of}`);
      return [round];
    }
    default: {
      const { signal, pace, budget } = context;
      // Only TQL scans tables.
      const metrics = from.kind === "tql" ? context.metrics?.get(node) : undefined;
      if (metrics !== undefined) metrics.scan ??= newScanMetrics();
      return context.sources.open(from, { signal, pace, budget, columns, rowsWanted, scan: metrics?.scan });
    }
  }
}
