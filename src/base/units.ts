/**
 * Brands for numbers that must not be mixed up. Each is here because signatures ask for it, and so catches something: ids of tables travel
 * beside segments, sequences and ids of files; a setting that is a span of time must not be filled by a kind that reads sizes. Ids of
 * columns are plain numbers, and so are times: what tells nanoseconds from milliseconds is that they are bigints.
 * Brands live in signatures and records; loop locals are plain numbers. The constructors below are the only places that cast.
 */
declare const unit: unique symbol;
/** A `T` that only functions asking for a `U` take. */
export type Brand<T, U extends string> = T & { readonly [unit]: U };

/** A span of time in milliseconds. 0..2^53-1. Of settings. */
export type DurationMillis = Brand<number, "DurationMillis">;
/** A count of bytes. Of settings. */
export type ByteLength = Brand<number, "ByteLength">;
/** Stable number of a table in the catalog, never reused. 1..2^31-1. */
export type TableId = Brand<number, "TableId">;
/** Who writes records to a log: one thread of one process, or one lane of it. 1..2^53-1, never used again. */
export type WriterId = Brand<number, "WriterId">;

/** Constructors: each says that the number is what its name says. */
export const durationMillis = (value: number): DurationMillis => value as DurationMillis;
export const byteLength = (value: number): ByteLength => value as ByteLength;
/** A plain number as the id of a table. */
export const tableId = (value: number): TableId => value as TableId;
/** A plain number as the id of a writer. */
export const writerId = (value: number): WriterId => value as WriterId;
