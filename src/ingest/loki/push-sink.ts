/**
 * What both forms of a push decode into: rows, and the reasons of entries that are left out.
 */
import { resized } from "../../base/bytes/longer-array.ts";
import { FIELD_TEXT_BYTES_MAX } from "../../base/limits.ts";
import { ESCAPED_BYTES_MAX, escapeJson } from "../../format/json/text.ts";
import { COMPARED_PAIRS_MAX, METADATA_BYTES_MAX, UNFOLDED_BYTES_SLACK } from "./limits.ts";
import { type LogPart, LogRows } from "./log-rows.ts";
import type { Stream } from "./streams.ts";
import type { LeftOut } from "./types.ts";

const NANOS_PER_SECOND = 1_000_000_000;
/** Times that 64 bits of nanoseconds hold lie below this many seconds from 1970. */
const SECONDS_MAX = 9_223_372_036;
const COMMA = 0x2c;
const QUOTE = 0x22;
const latin1 = new TextDecoder("latin1");

/** Where a name and a value stand in the body: four positions a pair. */
export class Pairs {
  places: Uint32Array<ArrayBuffer> = new Uint32Array(64);
  count = 0;

  /** Adds a pair. */
  add(nameStart: number, nameEnd: number, valueStart: number, valueEnd: number): void {
    const at = this.count++ * 4;
    if (at === this.places.length) {
      this.places = resized(this.places, at * 2);
    }
    this.places[at] = nameStart;
    this.places[at + 1] = nameEnd;
    this.places[at + 2] = valueStart;
    this.places[at + 3] = valueEnd;
  }
}

/** Counts entries that are left out, and keeps the reason of the first. */
class Tally {
  private count = 0;
  private reason = "";

  add(reason: string): void {
    if (this.count++ === 0) this.reason = reason;
  }

  get total(): LeftOut | undefined {
    return this.count === 0 ? undefined : { count: this.count, reason: this.reason };
  }
}

/** See the file header. */
export class PushSink {
  readonly rows: LogRows = new LogRows();
  /** Metadata of the entry being read. */
  readonly pairs: Pairs = new Pairs();
  skipped: Tally = new Tally();
  refused: Tally = new Tally();
  /** Streams that are kept without their labels. */
  unlabelled: Tally = new Tally();
  private bytesMax = 0;

  /** Starts a push of so many bytes. */
  begin(bodyBytes: number): void {
    this.rows.reset();
    this.skipped = new Tally();
    this.refused = new Tally();
    this.unlabelled = new Tally();
    this.bytesMax = Math.min(2 * bodyBytes + UNFOLDED_BYTES_SLACK, 2 ** 32 - 1);
  }

  /**
   * Begins a row with room for its line, unless the entry is refused. `metadataBytes` as sent.
   *
   * @returns the part whose `line` is to be written and ended before `metadata` is called
   */
  row(seconds: number, nanos: number, stream: Stream, lineBytes: number, metadataBytes: number): LogPart | undefined {
    const carry = Math.floor(nanos / NANOS_PER_SECOND);
    const second = seconds + carry;
    if (second < -SECONDS_MAX || second >= SECONDS_MAX) return this.refuse("a timestamp lies beyond 64 bits of nanoseconds");
    if (stream.refusal !== undefined) return this.refuse(stream.refusal);
    if (lineBytes > FIELD_TEXT_BYTES_MAX) return this.refuse(`a line has ${lineBytes} bytes; at most ${FIELD_TEXT_BYTES_MAX} are kept`);
    if (metadataBytes > METADATA_BYTES_MAX) {
      return this.refuse(`the metadata of an entry has ${metadataBytes} bytes; at most ${METADATA_BYTES_MAX} are kept`);
    }
    const part = this.rows.begin(second, nanos - carry * NANOS_PER_SECOND, stream.key);
    part.line.reserve(lineBytes, this.bytesMax);
    return part;
  }

  /** Ends the row with its metadata: the stream's and `pairs`, of which the last of equal names counts. `isJson`: they are escaped. */
  metadata(part: LogPart, stream: Stream, source: Uint8Array, isJson: boolean): void {
    const { metadata: column } = part;
    const { pairs } = this;
    column.reserve(stream.metadata.length + 2, this.bytesMax);
    column.bytes[column.used++] = 0x7b; // '{'
    column.copy(stream.metadata, 0, stream.metadata.length);
    let isFirst = stream.metadata.length === 0;
    const repeated = pairs.count < 2 ? undefined : repeatedPairs(source, pairs);
    for (let pair = 0; pair < pairs.count; pair++) {
      if (repeated?.has(pair) === true) continue;
      const at = pair * 4;
      const nameStart = pairs.places[at] as number;
      const nameEnd = pairs.places[at + 1] as number;
      const valueStart = pairs.places[at + 2] as number;
      const valueEnd = pairs.places[at + 3] as number;
      const sent = nameEnd - nameStart + valueEnd - valueStart;
      column.reserve((isJson ? sent : sent * ESCAPED_BYTES_MAX) + 8, this.bytesMax);
      if (!isFirst) column.bytes[column.used++] = COMMA;
      isFirst = false;
      this.quoted(part, source, nameStart, nameEnd, isJson);
      column.bytes[column.used++] = 0x3a; // ':'
      this.quoted(part, source, valueStart, valueEnd, isJson);
    }
    column.reserve(1, this.bytesMax);
    column.bytes[column.used++] = 0x7d; // '}'
    column.end();
  }

  private quoted({ metadata: column }: LogPart, source: Uint8Array, start: number, end: number, isJson: boolean): void {
    column.bytes[column.used++] = QUOTE;
    if (isJson) column.copy(source, start, end);
    else column.used = escapeJson(source, start, end, column.bytes, column.used);
    column.bytes[column.used++] = QUOTE;
  }

  private refuse(reason: string): undefined {
    this.refused.add(reason);
  }
}

const NONE: ReadonlySet<number> = new Set();

/** Pairs whose name comes again later. */
function repeatedPairs(source: Uint8Array, { places, count }: Pairs): ReadonlySet<number> {
  let found: Set<number> | undefined;
  if (count > COMPARED_PAIRS_MAX) {
    const seen = new Set<string>();
    found = new Set();
    for (let pair = count - 1; pair >= 0; pair--) {
      const name = latin1.decode(source.subarray(places[pair * 4], places[pair * 4 + 1]));
      if (seen.has(name)) found.add(pair);
      seen.add(name);
    }
    return found;
  }
  for (let pair = 0; pair < count; pair++) {
    for (let later = pair + 1; later < count; later++) {
      if (
        !sameBytes(
          source,
          places[pair * 4] as number,
          places[pair * 4 + 1] as number,
          places[later * 4] as number,
          places[later * 4 + 1] as number,
        )
      )
        continue;
      (found ??= new Set()).add(pair);
      break;
    }
  }
  return found ?? NONE;
}

function sameBytes(source: Uint8Array, a: number, aEnd: number, b: number, bEnd: number): boolean {
  if (aEnd - a !== bEnd - b) return false;
  for (let i = 0; i < aEnd - a; i++) if (source[a + i] !== source[b + i]) return false;
  return true;
}
