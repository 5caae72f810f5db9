/**
 * What the writers of a crash campaign send. A batch is a pure function of who sends it and its number, so that the checker can compute
 * every value again. How it is written is up to the writer's door (`doors/`).
 *
 * - A *fresh* batch makes new rows: `seat` 0, 1, … of the *origin*, which has the batch's number.
 * - A *full* batch overwrites the first seats of an earlier origin in all fields.
 * - A *partial* batch overwrites some fields there, and leaves the label as it is.
 * - A *delete* takes the rows of an earlier origin out of one table.
 *
 * A request holds rows of several tables, and must be applied to all of them or to none.
 */

/** What a batch does. */
export type BatchKind = "fresh" | "full" | "partial" | "delete";

/** One request of one writer. */
export interface Batch {
  readonly writer: number;
  /** Numbers of a writer rise from 1; a row's `version` is the number of the batch that wrote it last. */
  readonly number: number;
  readonly kind: BatchKind;
  /** The fresh batch whose rows these are. */
  readonly origin: number;
  /** Seats `[0, seats)` are written; a delete has all seats of the origin. */
  readonly seats: number;
}

const SHARD_COUNT = 5;
const START_SECONDS = 1_700_000_000;
const DAY_SECONDS = 86_400;
const DAY_COUNT = 6;
const SEAT_NANOS = 100_000n;

/** Most seats of a batch: their times stay within the second of their origin. */
export const SEATS_MAX = 2000;

/** The table, of so many, that a row lives in. */
export function tableOf(origin: number, seat: number, tableCount: number): number {
  return (origin + seat) % tableCount;
}

/** Whether a batch writes or deletes a row of its origin, spread over so many tables. */
export function isOf({ kind, origin, number, seats }: Batch, seat: number, tableCount: number): boolean {
  if (kind === "delete") return seat < seats && tableOf(origin, seat, tableCount) === number % tableCount;
  return seat < seats;
}

/** Value of tag `writer`. */
export function writerTag(writer: number): string {
  return `w${writer}`;
}

/** Value of tag `shard`. */
export function shardTag(seat: number): string {
  return `s${seat % SHARD_COUNT}`;
}

/** When an origin begins, in seconds. Origins of one writer fall on different seconds of six days, in no order of days. */
export function secondOf(origin: number): number {
  const day = (origin * 7 + (origin >> 3)) % DAY_COUNT;
  return START_SECONDS + day * DAY_SECONDS + (origin % DAY_SECONDS);
}

/** A row's time in nanoseconds. */
export function timeOf(origin: number, seat: number): bigint {
  return BigInt(secondOf(origin)) * 1_000_000_000n + BigInt(seat) * SEAT_NANOS;
}

/** Field `amount` as written by one batch: a multiple of 0.25 below 2^18, so that sums of many are exact. */
export function amountOf(writer: number, version: number, seat: number): number {
  let mixed = Math.imul(writer + 1, 0x9e3779b1) ^ Math.imul(version, 0x85ebca6b) ^ Math.imul(seat + 1, 0xc2b2ae35);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
  return ((mixed >>> 12) & 0xfffff) / 4;
}

/** Field `label` as written by one batch. */
export function labelOf(writer: number, version: number, seat: number): string {
  return `w${writer} v${version} s${seat}`;
}
