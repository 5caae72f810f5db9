/** Batches whose rows go elsewhere: the chunks of each shard are one record, which goes to the lane of that shard. */
import { assert } from "../../base/assert.ts";
import { DbError } from "../../base/error.ts";
import type { SureSteps } from "../../base/process/sure-steps.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { RecordEntry } from "../../storage/memtable/write-record.ts";
import type { PreparedChunk } from "../../storage/region/prepared-chunk.ts";
import type { RecordLane } from "../log/record-lane.ts";
import type { SequenceCounter } from "../log/sequence-counter.ts";
import type { Shards } from "../schema/shards.ts";
import type { WriteTarget } from "../table/write-target.ts";
import { type BatchLog, building, type ChunkBuilder, type LoggedChunks } from "./batch-log.ts";

/** What it works with. */
export interface LanesLogParts {
  /** By shard. */
  readonly lanes: readonly RecordLane[];
  readonly shards: Shards;
  readonly sequences: SequenceCounter;
  readonly sure: SureSteps;
}

/** What goes to one lane. */
interface LaneRecord<P> {
  readonly lane: RecordLane;
  readonly parts: P[];
  readonly entries: RecordEntry[];
}

/** See the file header. */
export class LanesLog implements BatchLog {
  private readonly parts: LanesLogParts;

  constructor(parts: LanesLogParts) {
    const { lanes, shards } = parts;
    assert(lanes.length === shards.count, `a lane a shard; got ${lanes.length} for ${shards.count}`);
    this.parts = parts;
  }

  append<P extends { readonly target: WriteTarget }>(parts: readonly P[], chunks: ChunkBuilder<P>): LoggedChunks {
    const records = this.recordsOf(parts);
    const sequence = this.parts.sequences.take();
    const prepared: PreparedChunk[] = [];
    // All are built before the first is appended: then a batch that cannot be built is nowhere.
    building(prepared, chunks, () => {
      for (const { lane, parts: its, entries } of records) {
        const segment = lane.beginRecord();
        for (const part of its) {
          const { chunk, entry } = chunks.build(part, segment, sequence);
          prepared.push(chunk);
          entries.push(entry);
        }
      }
    });
    const appends = this.parts.sure.run("records are appended to the lanes of shards", () =>
      records.map(({ lane, entries }) => lane.append(entries)),
    );
    const [only] = appends;
    return { durable: only !== undefined && appends.length === 1 ? only : allDurable(appends), prepared, record: undefined };
  }

  private recordsOf<P extends { readonly target: WriteTarget }>(parts: readonly P[]): LaneRecord<P>[] {
    const records = new Map<number, LaneRecord<P>>();
    for (const part of parts) {
      const shard = this.parts.shards.shardOf(part.target.schema.id);
      let record = records.get(shard);
      if (record === undefined) {
        const lane = this.parts.lanes[shard];
        assert(lane !== undefined, `a lane of shard ${shard}`);
        record = { lane, parts: [], entries: [] };
        records.set(shard, record);
      }
      record.parts.push(part);
    }
    return [...records.values()];
  }
}

/**
 * Resolves when all lanes have answered: until then they may read the chunks.
 *
 * @throws DbError of one that failed: of one after which nobody knows whether its rows are there, if there is one
 */
async function allDurable(appends: readonly Promise<void>[]): Promise<void> {
  const failures = (await Promise.allSettled(appends)).flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
  if (failures.length === 0) return;
  throw failures.find((error) => error instanceof DbError && error.code === StatusCode.StorageUnavailable) ?? failures[0];
}
