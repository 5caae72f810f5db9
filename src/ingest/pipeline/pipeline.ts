/**
 * A compiled pipeline and how one item goes through it:
 *
 *   item ─► processors ─► null: filtered │ array: each element ─┐
 *                                                               ├─► dispatcher ─► table suffix, hints ─► TableSink
 *                                       object ─────────────────┘       └─► another pipeline
 */
import { assert } from "../../base/assert.ts";
import { type DbError, invalidArguments } from "../../base/error.ts";
import type { ColumnDefinition } from "../../table/schema.ts";
import type { Dispatcher } from "./dispatcher.ts";
import { failure } from "./failure.ts";
import { hintsOf, suffixHintOf } from "./hints.ts";
import type { Identity } from "./identity.ts";
import { type Layout, timeDefinition } from "./layout.ts";
import { JsonColumns } from "../common/json-columns.ts";
import { DISPATCH_DEPTH_MAX, ROWS_PER_ITEM_MAX } from "./limits.ts";
import type { Processor } from "./processor/processor.ts";
import { Run } from "./run.ts";
import type { TableSuffix } from "./table-suffix.ts";
import type { TableSink } from "./table-sink.ts";
import type { CompiledPipeline, DocumentScan, PipelineResult, PipelineRunOptions } from "./types.ts";
import { isObject, kindOf, type PipelineObject, type PipelineValue } from "../common/value.ts";

/** What a pipeline is made of. */
export interface PipelineParts {
  readonly processors: readonly Processor[];
  readonly dispatcher: Dispatcher | undefined;
  readonly tableSuffix: TableSuffix | undefined;
  /** The identity makes its layout with each request. */
  readonly shape: Layout | Identity;
  /** Whether the transform fixes the columns. */
  readonly isDeclared: boolean;
  /** Where rows without a rule's pipeline go. */
  readonly identity: Pipeline | undefined;
}

/** See the file header. */
export class Pipeline implements CompiledPipeline {
  private readonly parts: PipelineParts;

  constructor(parts: PipelineParts) {
    this.parts = parts;
  }

  get dispatchTargets(): readonly string[] {
    const names = (this.parts.dispatcher?.rules ?? []).map(({ pipeline }) => pipeline);
    return [...new Set(names.filter((name) => name !== undefined))];
  }

  get hasVariableTable(): boolean {
    return this.parts.dispatcher !== undefined || this.parts.tableSuffix !== undefined;
  }

  columns(timeColumn: string): readonly ColumnDefinition[] | undefined {
    const { shape, isDeclared } = this.parts;
    if (!isDeclared || isIdentity(shape)) return undefined;
    const columns: ColumnDefinition[] = shape.declared.map(({ name, type, semantic, nullable, indexes }) => {
      return { name, type, semantic, nullable, ...(indexes === undefined ? {} : { indexes }) };
    });
    columns.splice(shape.timePlace, 0, timeDefinition(shape.time, timeColumn));
    return columns;
  }

  run(rows: Iterable<PipelineValue>, options: PipelineRunOptions): PipelineResult {
    const run = new Run(options);
    let index = 0;
    for (const row of rows) {
      try {
        this.take(row, index, options.table, run, 0);
      } catch (error) {
        run.failed(index, error);
      }
      index++;
    }
    return run.result();
  }

  scan(body: Uint8Array, options: PipelineRunOptions): DocumentScan | undefined {
    const { shape, processors } = this.parts;
    if (!isIdentity(shape) || processors.length > 0) return undefined;
    const run = new Run(options);
    let sink: TableSink | undefined;
    let columns: JsonColumns | undefined;
    return {
      take: (start) => (columns === undefined ? -1 : columns.take(start)),
      add: (row) => {
        this.take(row, 0, options.table, run, 0);
        // The first row makes the table, and a row with hints goes to another one.
        if (run.plainSink === sink) return;
        sink = run.plainSink;
        columns = sink === undefined ? undefined : new JsonColumns(body, sink);
      },
      result: () => run.result(),
    };
  }

  /** One item, from the processor `from` on. @throws DbError InvalidArguments, IllegalState */
  private take(item: PipelineValue, index: number, table: string, run: Run, depth: number, from = 0): void {
    if (depth > DISPATCH_DEPTH_MAX) throw failure(`a row goes through at most ${DISPATCH_DEPTH_MAX} dispatchers`);
    const { processors } = this.parts;
    let value = item;
    for (let i = from; i < processors.length; i++) {
      if (!isObject(value)) throw notAMap();
      value = (processors[i] as Processor).run(value, run.options); // i < length
      if (value === null || value === undefined) {
        run.filteredCount++;
        return;
      }
      if (Array.isArray(value)) {
        this.takeEach(value, index, table, run, depth, i + 1);
        return;
      }
    }
    if (!isObject(value)) throw notAMap();
    this.place(value, index, table, run, depth);
  }

  /** The rows that one item became. They are judged one by one. */
  private takeEach(rows: readonly PipelineValue[], index: number, table: string, run: Run, depth: number, from: number): void {
    if (rows.length > ROWS_PER_ITEM_MAX) throw failure(`an item becomes at most ${ROWS_PER_ITEM_MAX} rows, but became ${rows.length}`);
    for (const [i, row] of rows.entries()) {
      try {
        if (!isObject(row)) throw notAnObject(i, row);
        this.take(row, index, table, run, depth, from);
      } catch (error) {
        run.failed(index, error);
      }
    }
  }

  private place(row: PipelineObject, index: number, table: string, run: Run, depth: number): void {
    const { dispatcher, tableSuffix, shape } = this.parts;
    const rule = dispatcher?.ruleOf(row);
    if (rule !== undefined) {
      this.targetOf(rule.pipeline, run.options).take(row, index, table + rule.tableSuffix, run, depth + 1);
      return;
    }
    if (isIdentity(shape)) {
      run.add(shape.flattened(row, run.options), table, shape.layoutOf(run.options), hintsOf(row));
      return;
    }
    const suffix = suffixHintOf(row) ?? tableSuffix?.(row);
    run.add(row, suffix === undefined ? table : table + suffix, shape, hintsOf(row));
  }

  private targetOf(name: string | undefined, options: PipelineRunOptions): Pipeline {
    const target = name === undefined ? this.parts.identity : options.pipelineOf?.(name);
    if (target === undefined) throw failure(`Pipeline not found, name: ${name}, version: latest`);
    assert(target instanceof Pipeline, "pipelines are made by compilePipeline");
    return target;
  }
}

function isIdentity(shape: Layout | Identity): shape is Identity {
  return "layoutOf" in shape;
}

function notAMap(): DbError {
  return invalidArguments("Top level value must be map");
}

function notAnObject(index: number, value: PipelineValue): DbError {
  return invalidArguments(`Array element at index ${index} must be an object for one-to-many transformation, got ${kindOf(value)}`);
}
