import { ByteReader } from "../../../src/base/bytes/byte-reader.ts";
import { ByteWriter } from "../../../src/base/bytes/byte-writer.ts";
import { readOrigin } from "../../../src/storage/memtable/record-origin.ts";

/** A log record of now as versions 3 and 4 wrote it, without its origin. Version 3 has no columns that are stored once for all rows. */
export function withoutOrigin(version: 3 | 4, record: Uint8Array): Uint8Array {
  const input = new ByteReader(record, 4);
  const headBytes = input.u32();
  const from = input.offset;
  readOrigin(input);
  const old = new ByteWriter();
  old.u32(version);
  old.u32(headBytes - (input.offset - from));
  old.raw(record.subarray(input.offset));
  return old.copy();
}
