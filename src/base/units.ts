/**
 * Brands for numbers that must not be mixed up. Brands live in signatures and records; loop locals are plain numbers.
 * The constructors below are the only places that cast.
 */
declare const unit: unique symbol;
/** A `T` that only functions asking for a `U` take. */
export type Brand<T, U extends string> = T & { readonly [unit]: U };

/** Nanoseconds since 1970-01-01T00:00:00Z. `bigint` because it exceeds 2^53. */
export type EpochNanos = Brand<bigint, "EpochNanos">;
/** Milliseconds since 1970-01-01T00:00:00Z. */
export type EpochMillis = Brand<number, "EpochMillis">;
/** A span of time in milliseconds. 0..2^53-1. */
export type DurationMillis = Brand<number, "DurationMillis">;
/** A count of bytes. */
export type ByteLength = Brand<number, "ByteLength">;
/** Stable number of a table in the catalog, never reused. 1..2^31-1. */
export type TableId = Brand<number, "TableId">;
/** Stable number of a column within its table, never reused, survives renames. 1..2^31-1. */
export type ColumnId = Brand<number, "ColumnId">;

/** Constructors: each says that the number is what its name says. */
export const epochNanos = (value: bigint): EpochNanos => value as EpochNanos;
export const epochMillis = (value: number): EpochMillis => value as EpochMillis;
/** A plain number as a span of milliseconds. */
export const durationMillis = (value: number): DurationMillis => value as DurationMillis;
export const byteLength = (value: number): ByteLength => value as ByteLength;
export const tableId = (value: number): TableId => value as TableId;
export const columnId = (value: number): ColumnId => value as ColumnId;
