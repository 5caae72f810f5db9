/** One request on its way through pipelines: groups by hints, tables in them, and the rows that failed. */
import { DbError } from "../../base/error.ts";
import { ERROR_LINES_MAX } from "../../base/limits.ts";
import { StatusCode } from "../../base/status-code.ts";
import { SeriesDictionary } from "../../table/series-dictionary.ts";
import { failure } from "./failure.ts";
import { NO_HINTS } from "./hints.ts";
import type { Layout } from "./layout.ts";
import { HINT_SETS_MAX, TABLES_PER_REQUEST_MAX } from "./limits.ts";
import { TableSink } from "./table-sink.ts";
import type { PipelineGroup, PipelineResult, PipelineRowError, PipelineRunOptions } from "./types.ts";
import type { PipelineObject } from "../common/value.ts";

interface Group {
  readonly hints: ReadonlyMap<string, string>;
  /** By table; more than one where several pipelines write to it. */
  readonly sinks: Map<string, TableSink[]>;
}

/** See the file header. */
export class Run {
  readonly options: PipelineRunOptions;
  /** Rows that a processor filtered. */
  filteredCount = 0;
  private readonly dictionary = new SeriesDictionary();
  /** By the text of their hints. */
  private readonly groups: Map<string, Group> = new Map();
  private tableCount = 0;
  private readonly errors: PipelineRowError[] = [];
  private failedCount = 0;
  private last: TableSink | undefined;

  constructor(options: PipelineRunOptions) {
    this.options = options;
  }

  /** The table of the row kept last; undefined when that row had hints. */
  get plainSink(): TableSink | undefined {
    return this.last;
  }

  /** Keeps a row. @throws DbError InvalidArguments, and keeps nothing of it */
  add(row: PipelineObject, table: string, layout: Layout, hints: ReadonlyMap<string, string>): void {
    const { last } = this;
    if (hints === NO_HINTS && last !== undefined && last.table === table && last.layout === layout) {
      last.add(row);
      return;
    }
    const group = this.groupOf(hints);
    const sink = this.sinkOf(group, table, layout);
    sink.add(row);
    this.last = group.hints.size === 0 ? sink : undefined;
  }

  /** Notes a row that failed, or throws where one ends the request. */
  failed(index: number, error: unknown): void {
    if (!this.options.skipError || !(error instanceof DbError) || error.code === StatusCode.Internal) throw error;
    this.failedCount++;
    if (this.errors.length < ERROR_LINES_MAX) this.errors.push({ index, reason: error.message });
  }

  result(): PipelineResult {
    const groups: PipelineGroup[] = [];
    for (const { hints, sinks } of this.groups.values()) {
      const kept = [...sinks.values()].flat().filter((sink) => sink.rowCount > 0);
      const rowCount = kept.reduce((sum, sink) => sum + sink.rowCount, 0);
      if (rowCount === 0) continue;
      groups.push({ hints, rowCount, batch: { dictionary: this.dictionary, tables: kept.flatMap((sink) => sink.writes()) } });
    }
    const { filteredCount, failedCount, errors } = this;
    return { groups, rowCount: groups.reduce((sum, group) => sum + group.rowCount, 0), filteredCount, failedCount, errors };
  }

  private groupOf(hints: ReadonlyMap<string, string>): Group {
    const key = hints.size === 0 ? "" : JSON.stringify([...hints]);
    let group = this.groups.get(key);
    if (group === undefined) {
      if (this.groups.size >= HINT_SETS_MAX) throw failure(`a request has at most ${HINT_SETS_MAX} sets of hints in its rows`);
      group = { hints, sinks: new Map() };
      this.groups.set(key, group);
    }
    return group;
  }

  private sinkOf(group: Group, table: string, layout: Layout): TableSink {
    const sinks = group.sinks.get(table) ?? [];
    let sink = sinks.find((candidate) => candidate.layout === layout);
    if (sink === undefined) {
      if (++this.tableCount > TABLES_PER_REQUEST_MAX) throw failure(`a request writes to at most ${TABLES_PER_REQUEST_MAX} tables`);
      sink = new TableSink(table, layout, this.dictionary, this.options);
      group.sinks.set(table, [...sinks, sink]);
    }
    return sink;
  }
}
