/** A `prometheus.ReadRequest` (contract ingest.md 2.6). Hints are passed over. */
import { utf8Text } from "../../../base/bytes/utf8.ts";
import { field, ProtoReader, Wire } from "../../../format/proto/reader.ts";
import { decoding, undecodable } from "../failure.ts";
import { READ_MATCHERS_MAX, READ_QUERIES_MAX } from "../limits.ts";

/** A condition on a label. */
export interface LabelMatcher {
  readonly kind: "=" | "!=" | "=~" | "!~";
  readonly name: string;
  readonly value: string;
}

/** What one query asks for. Milliseconds, both ends included. */
export interface ReadQuery {
  readonly start: bigint;
  readonly end: bigint;
  readonly matchers: readonly LabelMatcher[];
}

/** What may be answered: whole samples, or chunks in frames. */
export type ReadAnswer = "samples" | "chunks";

/** What a client of remote read asks for, and in which forms it takes the answer. */
export interface ReadRequest {
  readonly queries: readonly ReadQuery[];
  /** In the order of the client's preference; empty for one that knows samples alone. */
  readonly accepted: readonly (ReadAnswer | "unknown")[];
}

const KINDS = ["=", "!=", "=~", "!~"] as const;
const ANSWERS = ["samples", "chunks"] as const;

/** Reads a request. @throws DbError InvalidArguments */
export function decodeReadRequest(bytes: Uint8Array): ReadRequest {
  return decoding(() => {
    const reader = new ProtoReader();
    reader.open(bytes);
    const queries: ReadQuery[] = [];
    const accepted: (ReadAnswer | "unknown")[] = [];
    const end = bytes.length;
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (tag === field(1, Wire.bytes)) {
        if (queries.length === READ_QUERIES_MAX) throw undecodable(`it has more than ${READ_QUERIES_MAX} queries`);
        queries.push(readQuery(reader, reader.lengthEnd(end)));
      } else if (tag === field(2, Wire.bytes)) {
        const packedEnd = reader.lengthEnd(end);
        while (reader.at < packedEnd) accepted.push(ANSWERS[reader.varint32(packedEnd)] ?? "unknown");
      } else if (tag === field(2, Wire.varint)) accepted.push(ANSWERS[reader.varint32(end)] ?? "unknown");
      else reader.skip(tag, end);
    }
    return { queries, accepted };
  });
}

function readQuery(reader: ProtoReader, end: number): ReadQuery {
  let start = 0n;
  let last = 0n;
  const matchers: LabelMatcher[] = [];
  while (reader.at < end) {
    const tag = reader.tag(end);
    if (tag === field(1, Wire.varint) || tag === field(2, Wire.varint)) {
      reader.varint64(end);
      if (tag === field(1, Wire.varint)) start = reader.signedBigInt();
      else last = reader.signedBigInt();
    } else if (tag === field(3, Wire.bytes)) {
      if (matchers.length === READ_MATCHERS_MAX) throw undecodable(`a query has more than ${READ_MATCHERS_MAX} matchers`);
      matchers.push(readMatcher(reader, reader.lengthEnd(end)));
    } else reader.skip(tag, end);
  }
  return { start, end: last, matchers };
}

function readMatcher(reader: ProtoReader, end: number): LabelMatcher {
  let type = 0;
  let name = "";
  let value = "";
  while (reader.at < end) {
    const tag = reader.tag(end);
    if (tag === field(1, Wire.varint)) type = reader.varint32(end);
    else if (tag === field(2, Wire.bytes)) name = readText(reader, end);
    else if (tag === field(3, Wire.bytes)) value = readText(reader, end);
    else reader.skip(tag, end);
  }
  const kind = KINDS[type];
  if (kind === undefined) throw undecodable(`a matcher of type ${type}`);
  return { kind, name, value };
}

function readText(reader: ProtoReader, end: number): string {
  const textEnd = reader.lengthEnd(end);
  const start = reader.at;
  reader.at = textEnd;
  const text = utf8Text(reader.bytes.subarray(start, textEnd));
  if (text === undefined) throw undecodable(`the text at byte ${start} is not UTF-8`);
  return text;
}
