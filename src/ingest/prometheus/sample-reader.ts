/**
 * Samples of one series: from the message to `SampleRows`, without an object or a string. The usual form of a sample, 16 bytes with both
 * fields and a time of six bytes, is read in place; every other form by the cursor.
 */
import { CHUNK_TIME_SPAN_MAX } from "../../base/limits.ts";
import { field, type ProtoReader, Wire } from "../../format/proto/reader.ts";
import { undecodable } from "./failure.ts";
import type { SampleRows } from "./sample-rows.ts";

const VALUE = field(1, Wire.fixed64);
const TIME = field(2, Wire.varint);
const SAMPLE = field(2, Wire.bytes);
/** Length of a sample whose time has six bytes: 2004 to 2527. */
const USUAL_LENGTH = 16;
const TWO_28 = 0x1000_0000;

/** What `readSamples` met. */
export const Met = { end: 0, labels: 1, histogram: 2 } as const;

/**
 * Appends the samples of a series that ends at `end` as rows of `key`. Stops at a field of labels (number 1), which then stand apart, and
 * at a native histogram.
 *
 * @throws ProtoError, DbError InvalidArguments
 */
export function readSamples(reader: ProtoReader, end: number, histogramTag: number, rows: SampleRows, key: number): number {
  const { bytes, view } = reader;
  let at = reader.at;
  while (at < end) {
    if (bytes[at] !== SAMPLE || bytes[at + 1] !== USUAL_LENGTH || at + 18 > end || bytes[at + 2] !== VALUE || bytes[at + 11] !== TIME) {
      reader.at = at;
      const met = readField(reader, end, histogramTag, rows, key);
      if (met !== Met.end) return met;
      at = reader.at;
      continue;
    }
    const low = view.getInt32(at + 12, true);
    const high = view.getUint16(at + 16, true);
    if ((low & 0x8080_8080) !== (0x8080_8080 | 0) || (high & 0x8080) !== 0x0080) {
      reader.at = at;
      readField(reader, end, histogramTag, rows, key);
      at = reader.at;
      continue;
    }
    const row = rows.count;
    if (row === rows.keys.length) rows.grow();
    rows.words[2 * row] = view.getInt32(at + 3, true);
    rows.words[2 * row + 1] = view.getInt32(at + 7, true);
    // Four and two groups of seven bits; a time of six bytes has 42 and is within every limit.
    const lower = (low & 0x7f) | ((low >>> 1) & 0x3f80) | ((low >>> 2) & 0x1f_c000) | ((low >>> 3) & 0xfe0_0000);
    rows.times[row] = ((high & 0x7f) | ((high >>> 1) & 0x3f80)) * TWO_28 + lower;
    rows.keys[row] = key;
    rows.count = row + 1;
    at += 18;
  }
  reader.at = at;
  return Met.end;
}

function readField(reader: ProtoReader, end: number, histogramTag: number, rows: SampleRows, key: number): number {
  const tag = reader.tag(end);
  if (tag === SAMPLE) readSample(reader, reader.lengthEnd(end), rows, key);
  else if (tag >>> 3 === 1) return Met.labels;
  else if (tag === histogramTag) return Met.histogram;
  else reader.skip(tag, end);
  return Met.end;
}

function readSample(reader: ProtoReader, end: number, rows: SampleRows, key: number): void {
  const row = rows.count;
  if (row === rows.keys.length) rows.grow();
  let low = 0;
  let high = 0;
  let time = 0;
  while (reader.at < end) {
    const tag = reader.tag(end);
    if (tag === VALUE) {
      const at = reader.take(8, end);
      low = reader.view.getInt32(at, true);
      high = reader.view.getInt32(at + 4, true);
    } else if (tag === TIME) {
      reader.varint64(end);
      time = timeOf(reader);
    } else reader.skip(tag, end);
  }
  rows.words[2 * row] = low;
  rows.words[2 * row + 1] = high;
  rows.times[row] = time;
  rows.keys[row] = key;
  rows.count = row + 1;
}

/** The varint read last as a time. @throws DbError InvalidArguments beyond `2^52` ms */
export function timeOf(reader: ProtoReader): number {
  const time = reader.signed();
  if (Math.abs(time) <= CHUNK_TIME_SPAN_MAX) return time;
  throw undecodable(`a sample's time ${reader.signedBigInt()} is more than ${CHUNK_TIME_SPAN_MAX} ms from 1970`);
}
