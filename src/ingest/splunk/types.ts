/** What a request of the HTTP event collector holds. */
import type { PipelineObject } from "../common/value.ts";

/** Events of one table, in the order of the request. */
export interface TableEvents {
  readonly table: string;
  readonly rows: readonly PipelineObject[];
}

/** A decoded request. */
export interface Events {
  readonly kind: "events";
  readonly tables: readonly TableEvents[];
  /** Columns that are tags where the pipeline is the built-in one: those of Splunk first, in their order. */
  readonly tags: readonly string[];
}

/** Why a request is refused, as its clients know it. */
export interface Refusal {
  readonly kind: "refused";
  readonly text: string;
  readonly code: number;
}

/** How to read a request. */
export interface EventOptions {
  /** Table of events that name no index. */
  readonly table: string;
  /** Name of the time index. */
  readonly timeColumn: string;
  /** Time of events without one. */
  readonly nowNanos: bigint;
  /** Whether rows hold times as numbers of nanoseconds: else as times. */
  readonly isTimeNumber: boolean;
}

/** What the query of a raw request says of its events. */
export interface RawOptions extends EventOptions {
  readonly host: string | undefined;
  readonly source: string | undefined;
  readonly sourcetype: string | undefined;
  readonly time: string | undefined;
  /** Text between two events; undefined: the whole body is one. */
  readonly lineBreaker: string | undefined;
}
