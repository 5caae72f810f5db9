/**
 * What a frontend asks of the node that owns a shard. `shard-client.ts` is the way there; what travels is told in FORMAT.md.
 *
 *   fragment   a scan with operators above it ─► series, rows, …, end           reads
 *   call       one question, one answer                                        flush, merge, truncate, delete, facts
 */
import type { ToldError } from "../../base/told-error.ts";
import type { TableId } from "../../base/units.ts";
import type { FragmentJob, PlainBatch } from "../../query/operator/contract/query-workers.ts";
import type { NodeMetrics } from "../../query/operator/contract/node-metrics.ts";
import type { TableFile, TableStatistics } from "../../table/catalog.ts";
import type { TimeRange } from "../../table/scan.ts";

/** What the shard must have seen before it answers: else it waits. */
export interface ShardMoment {
  /** Entries of the catalogue up to this version are in force. */
  readonly catalogVersion: number;
  /** Records of the shard's log up to this number are visible; 0: whatever there is. */
  readonly least: number;
}

/** A fragment over the rows that a shard has of one table. */
export interface FragmentRequest extends ShardMoment, Pick<FragmentJob, "environment" | "memoryBytesMax" | "wantsMetrics" | "wantsRuns"> {
  readonly shard: number;
  readonly tableId: TableId;
  /** `plan-bytes.ts`: a scan of the table, its conditions on tags among them, and operators above it. */
  readonly plan: Uint8Array<ArrayBuffer>;
}

/** Fragments over several shards whose owner is one node: one plan. Its answer has those of the shards one after the other. */
export interface FragmentsRequest extends Omit<FragmentRequest, "shard" | "least"> {
  /** At least one, at most `SHARDS_IN_REQUEST_MAX`. */
  readonly shards: readonly Pick<FragmentRequest, "shard" | "least">[];
}

/** Series that rows will name, by numbers that the answer gives: 0, 1, 2, … as they are defined. */
export interface DefinedSeries {
  readonly count: number;
  /** By place of the tag in the schema's primary key; undefined: NULL. */
  readonly tags: readonly (readonly (string | undefined)[])[];
  /**
   * Places of tags that are "" in some series that the shard knows, whether the answer names them or not: PromQL takes "" for absent, and
   * has to know before it has seen all series. With the first series of an answer; of a physical table there are none.
   */
  readonly emptyTags: readonly number[];
}

/** A piece of the answer to a fragment, in their order. After "end" and "failed" nothing comes. */
export type FragmentPiece =
  | { readonly kind: "series"; readonly series: DefinedSeries }
  /** `bytes`: of the arrays. Runs are under numbers that "series" defined. */
  | { readonly kind: "rows"; readonly batch: PlainBatch; readonly bytes: number }
  | { readonly kind: "end"; readonly workMs: number; readonly metrics: readonly NodeMetrics[] | undefined }
  | { readonly kind: "failed"; readonly error: ToldError };

/** What is known of a table's rows in one shard. */
export interface ShardFacts {
  readonly tableId: TableId;
  readonly statistics: TableStatistics;
  readonly timeBounds: TimeRange | undefined;
}

/** One question about a shard, or a change of its rows. */
export type ShardCall = ShardMoment & { readonly shard: number } & (
    | { readonly kind: "flush"; readonly tableId: TableId }
    | { readonly kind: "compact"; readonly tableId: TableId; readonly timeRange: TimeRange | undefined }
    | { readonly kind: "build-indexes"; readonly tableId: TableId }
    | { readonly kind: "truncate"; readonly tableId: TableId; readonly ranges: readonly TimeRange[] | undefined }
    /** Deletes the rows that a plan gives: a scan of the table with filters above it. Answered with their number. */
    | {
        readonly kind: "delete";
        readonly tableId: TableId;
        readonly plan: Uint8Array<ArrayBuffer>;
        readonly environment: FragmentJob["environment"];
      }
    /** Deletes rows by tags and times, one a row; tags by place in the schema's primary key. */
    | {
        readonly kind: "delete-keys";
        readonly tableId: TableId;
        readonly tags: readonly (readonly (string | undefined)[])[];
        readonly times: readonly bigint[];
      }
    /** Of one table, or of all that have rows in the shard. */
    | { readonly kind: "facts"; readonly tableId: TableId | undefined }
    | { readonly kind: "files"; readonly tableId: TableId }
  );

/** The answer to a call of a kind. */
export interface ShardAnswers {
  readonly flush: null;
  readonly compact: null;
  readonly "build-indexes": null;
  readonly truncate: null;
  /** Rows. */
  readonly delete: number;
  readonly "delete-keys": null;
  readonly facts: readonly ShardFacts[];
  readonly files: readonly TableFile[];
}
