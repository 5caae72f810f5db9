/** What must be in the database: the acknowledged batches of every writer, applied in order. */
import { type Batch, isOf } from "./batch.ts";
import type { Door } from "./doors/door.ts";

/** The rows of one fresh batch, by seat. */
export interface Origin {
  readonly seats: number;
  /** Number of the batch that wrote the seat last; 0 when it was deleted. */
  readonly versions: Uint32Array;
  /** Number of the batch that wrote the seat's label: the last one that was not partial. */
  readonly labels: Uint32Array;
}

/** One writer's share of the expected state. A writer sends one batch at a time, so that its batches have an order. */
export class WriterModel {
  readonly writer: number;
  readonly door: Door;
  /** Expected rows by the number of the fresh batch that made them. */
  readonly origins: Map<number, Origin> = new Map();
  /** Origins that a batch went to since the last check, acknowledged or not. */
  readonly touched: Set<number> = new Set();
  /** What the checker computed of origins that were not touched since: figures by table. */
  readonly sums: Map<number, readonly (string | undefined)[]> = new Map();
  /** The batch that was sent and not answered when the server was killed. */
  unanswered: Batch | undefined = undefined;
  /** Whether the door's `setUp` was acknowledged. */
  isSetUp = false;
  /** Batches that were acknowledged. */
  acknowledged = 0;
  /** Number of the next batch. */
  nextNumber = 1;

  constructor(writer: number, door: Door) {
    this.writer = writer;
    this.door = door;
  }

  /** Notes that a batch is on its way. */
  send(batch: Batch): void {
    this.touched.add(batch.origin);
    this.unanswered = batch;
  }

  /** Applies the batch on its way: it was acknowledged, or found after a crash. */
  apply(): void {
    const batch = this.unanswered;
    if (batch === undefined) return;
    this.unanswered = undefined;
    const known = this.origins.get(batch.origin);
    const origin = known ?? { seats: batch.seats, versions: new Uint32Array(batch.seats), labels: new Uint32Array(batch.seats) };
    if (known === undefined) this.origins.set(batch.origin, origin);
    const version = batch.kind === "delete" ? 0 : batch.number;
    for (let seat = 0; seat < batch.seats; seat++) {
      if (!isOf(batch, seat, this.door.tables.length)) continue;
      origin.versions[seat] = version;
      if (batch.kind !== "partial") origin.labels[seat] = version;
    }
  }

  /** Forgets the batch on its way: the crash took it, all of it. */
  drop(): void {
    this.unanswered = undefined;
  }
}
