/**
 * A writer as the rule of `src/engine/log/writers.ts` wants it, over a log that loses, delays, repeats and reorders what is sent to it, and
 * whose answers get lost. Its rows are numbers, each under a series; every segment gives series other numbers, so that an old definition
 * is a wrong one.
 */
import type { Random } from "../../bench/macro/random.ts";
import { writerId } from "../../src/base/units.ts";
import type { RecordOrigin } from "../../src/storage/memtable/record-origin.ts";

/** A record as it is sent. */
export interface LaneRecord {
  readonly origin: RecordOrigin;
  /** Numbers of series, and what they stand for. */
  readonly definitions: readonly (readonly [number: number, series: string])[];
  /** Rows under numbers of series; `series` is what the number has to stand for. */
  readonly rows: readonly { readonly number: number; readonly series: string; readonly row: number }[];
}

/** Rows that go together under one number for ever. */
interface Batch {
  readonly number: number;
  readonly rows: readonly { readonly series: string; readonly row: number }[];
  /** Where the log has it, as the present segment's answer says. */
  position: number | undefined;
}

/** Batches that are under way at most. */
const UNDER_WAY_MAX = 4;
const SERIES = 6;
/** Numbers of series in a segment: few, so that segments use each other's. */
const NUMBERS = 8;

/** See the file header. What it wants to send it gives to `send`. */
export class LossyLane {
  /** Rows that were acknowledged to their client, in order. */
  readonly acknowledged: number[] = [];
  /** Rows that were sent, in order. */
  readonly written: number[] = [];
  readonly writer: number;
  private readonly random: Random;
  private readonly send: (record: LaneRecord) => void;
  private readonly under: Batch[] = [];
  private segment = 1;
  private lastNumber = 0;
  private lastPosition = -1;
  private known: Map<string, number> = new Map();
  /** Batches, from the first on, that earlier segments had sent: they go one at a time, each once the one before is answered. */
  private again = 0;
  private lastSent: LaneRecord | undefined;

  constructor(writer: number, random: Random, send: (record: LaneRecord) => void) {
    this.writer = writer;
    this.random = random;
    this.send = send;
  }

  /** Whether everything was acknowledged. */
  get isDone(): boolean {
    return this.under.length === 0;
  }

  /** Writes rows that are new, if it may. */
  write(rows: readonly number[]): void {
    if (this.again > 0 || this.under.length >= UNDER_WAY_MAX) return;
    this.written.push(...rows);
    const batch: Batch = {
      number: ++this.lastNumber,
      rows: rows.map((row) => ({ row, series: `s${this.random.below(SERIES)}` })),
      position: undefined,
    };
    this.under.push(batch);
    this.sendBatch(batch);
  }

  /** The log's answer: where the record is. Those of a segment that was given up say nothing. */
  answered({ segment, number }: RecordOrigin, position: number): void {
    if (segment !== this.segment) return;
    const batch = this.under.find((one) => one.number === number);
    if (batch === undefined) return;
    batch.position ??= position;
    for (let first = this.under[0]; first?.position !== undefined; first = this.under[0]) {
      if (first.position <= this.lastPosition) return this.giveUp(); // It is before one that it has to be behind.
      this.lastPosition = first.position;
      this.acknowledged.push(...first.rows.map(({ row }) => row));
      this.under.shift();
      if (this.again > 0) this.again--;
      if (this.again > 0 && this.under[0] !== undefined) this.sendBatch(this.under[0]);
    }
  }

  /** No answer came: begins a new segment, or sends the same once more where one is sent at a time. */
  timedOut(): void {
    if (this.isDone) return;
    if (this.again > 0 && this.lastSent !== undefined && this.random.below(2) === 0) this.send(this.lastSent);
    else this.giveUp();
  }

  /** Begins a new segment, and sends again what was not acknowledged. */
  private giveUp(): void {
    this.segment += 1 + this.random.below(2);
    this.known = new Map();
    for (const batch of this.under) batch.position = undefined;
    this.again = this.under.length;
    if (this.under[0] !== undefined) this.sendBatch(this.under[0]);
  }

  private sendBatch({ number, rows }: Batch): void {
    const definitions: [number, string][] = [];
    const numbered = rows.map(({ series, row }) => ({ row, series, number: this.numberOf(series, definitions) }));
    const origin = { writer: writerId(this.writer), number, segment: this.segment, catalogVersion: 0 };
    this.lastSent = { origin, definitions, rows: numbered };
    this.send(this.lastSent);
  }

  private numberOf(series: string, definitions: [number, string][]): number {
    let number = this.known.get(series);
    if (number === undefined) {
      number = (this.known.size + this.segment) % NUMBERS;
      this.known.set(series, number);
      definitions.push([number, series]);
    }
    return number;
  }
}
