/** What the rows of a pipeline become: columns that are declared, columns that are found, and the time index. */
import type { TimeUnit } from "../../column/data-type.ts";
import type { ColumnDefinition } from "../../table/schema.ts";
import type { DeclaredColumn } from "./transform.ts";
import type { PipelineObject } from "../common/value.ts";

/** See the file header. */
export interface Layout {
  /** Without the time index. */
  readonly declared: readonly DeclaredColumn[];
  readonly time: TimeSource;
  /** Place of the time index among the declared columns; found ones follow. */
  readonly timePlace: number;
  /** Whether fields that no declared column read become columns. */
  readonly findsColumns: boolean;
  /** Fields that are never found: what declared columns read. */
  readonly consumed: ReadonlySet<string>;
}

/** Where the time of a row comes from. */
export interface TimeSource {
  /** Undefined: the request's default name. */
  readonly name: string | undefined;
  readonly unit: TimeUnit;
  /** In `unit`; `timeColumn` is the default name. @throws DbError InvalidArguments */
  of(row: PipelineObject, nowNanos: bigint, timeColumn: string): bigint;
}

/** Definition of the time index. */
export function timeDefinition({ name, unit }: TimeSource, timeColumn: string): ColumnDefinition {
  return { name: name ?? timeColumn, type: { kind: "timestamp", unit }, semantic: "timestamp", nullable: false };
}
