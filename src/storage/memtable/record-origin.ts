/**
 * Who wrote a record, and where it stands in what that writer wrote: what the head of a record begins with. By it a reader takes the rows
 * of each record once, though records are missing, late or there twice, and knows what series numbers mean (`engine/log/writers.ts`).
 */
import { assert } from "../../base/assert.ts";
import type { ByteReader } from "../../base/bytes/byte-reader.ts";
import type { ByteWriter } from "../../base/bytes/byte-writer.ts";
import { type WriterId, writerId } from "../../base/units.ts";

/** See the file header. All are whole numbers below 2^53. */
export interface RecordOrigin {
  readonly writer: WriterId;
  /** 1, 2, 3, … of the records of this writer. One number stands for the same rows, however often they are sent. */
  readonly number: number;
  /** From 1; rises whenever the writer begins its definitions anew. In a log on a local disk: the file that the record is in. */
  readonly segment: number;
  /** The writer's catalogue had come this far when it wrote: the tables and columns that the record names were there. */
  readonly catalogVersion: number;
}

/** Writes it. */
export function writeOrigin({ writer, number, segment, catalogVersion }: RecordOrigin, out: ByteWriter): void {
  out.varint(writer);
  out.varint(number);
  out.varint(segment);
  out.varint(catalogVersion);
}

/** Reads what `writeOrigin` wrote. @throws ByteReadError when it ends too early; AssertionError when a number is 0 that counts from 1 */
export function readOrigin(input: ByteReader): RecordOrigin {
  const writer = writerId(input.varint());
  const number = input.varint();
  const segment = input.varint();
  assert(writer > 0, "a writer's id is above 0");
  assert(number > 0, "records count from 1");
  assert(segment > 0, "segments count from 1");
  return { writer, number, segment, catalogVersion: input.varint() };
}
