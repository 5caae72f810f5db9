/**
 * The protobuf form of a push: `logproto.PushRequest`, out of its snappy block. Names and numbers: proto/logproto/push.proto.
 *
 *   PushRequest 1 streams ─► StreamAdapter 1 labels, 2 entries ─► EntryAdapter 1 timestamp, 2 line, 3 structuredMetadata
 */
import { field, ProtoReader, Wire } from "../../format/proto/reader.ts";
import { type Labels, parseLabels } from "./labels.ts";
import { QUOTED_LABELS_MAX } from "./limits.ts";
import type { PushSink } from "./push-sink.ts";
import type { Stream, Streams } from "./streams.ts";

const FORM = 1;
const FIRST_MESSAGE: number = field(1, Wire.bytes);
const SECOND_MESSAGE: number = field(2, Wire.bytes);
const THIRD_MESSAGE: number = field(3, Wire.bytes);
const FIRST_NUMBER: number = field(1, Wire.varint);
const SECOND_NUMBER: number = field(2, Wire.varint);
const NO_LABELS: Labels = { names: [], values: [] };
const decoder = new TextDecoder();

/** Reads one push after the other. */
export class ProtobufPush {
  private readonly reader: ProtoReader = new ProtoReader();
  private readonly sink: PushSink;
  private readonly streams: Streams;
  private seconds = 0;
  private nanos = 0;

  constructor(sink: PushSink, streams: Streams) {
    this.sink = sink;
    this.streams = streams;
  }

  /** Reads a whole message. @throws ProtoError */
  read(bytes: Uint8Array): void {
    const { reader } = this;
    reader.open(bytes);
    const end = bytes.length;
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (tag === FIRST_MESSAGE) {
        const streamEnd = reader.lengthEnd(end);
        this.stream(reader.at, streamEnd);
      } else reader.skip(tag, end);
    }
  }

  /** Labels may stand behind the entries, so they are looked for first; that jumps from entry to entry. */
  private stream(start: number, end: number): void {
    const { reader } = this;
    let labelsStart = start;
    let labelsEnd = start;
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (tag === FIRST_MESSAGE) {
        labelsEnd = reader.lengthEnd(end);
        labelsStart = reader.at;
        reader.at = labelsEnd;
      } else reader.skip(tag, end);
    }
    const stream = this.streams.of(reader.bytes, labelsStart, labelsEnd, FORM, () => this.labels(labelsStart, labelsEnd));
    reader.at = start;
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (tag === SECOND_MESSAGE) this.entry(reader.lengthEnd(end), stream);
      else reader.skip(tag, end);
    }
  }

  /** A label set that cannot be read leaves its lines without labels: they are worth more than their labels. */
  private labels(start: number, end: number): Labels {
    const text = decoder.decode(this.reader.bytes.subarray(start, end));
    const labels = parseLabels(text);
    if (labels === undefined) this.sink.unlabelled.add(`no label set: '${text.slice(0, QUOTED_LABELS_MAX)}'`);
    return labels ?? NO_LABELS;
  }

  private entry(end: number, stream: Stream): void {
    const { reader, sink } = this;
    const { pairs } = sink;
    let hasTime = false;
    let lineStart = 0;
    let lineEnd = 0;
    let metadataBytes = 0;
    pairs.count = 0;
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (tag === FIRST_MESSAGE) {
        if (!hasTime) this.seconds = this.nanos = 0;
        hasTime = true;
        this.time(reader.lengthEnd(end));
      } else if (tag === SECOND_MESSAGE) {
        lineEnd = reader.lengthEnd(end);
        lineStart = reader.at;
        reader.at = lineEnd;
      } else if (tag === THIRD_MESSAGE) {
        const pairEnd = reader.lengthEnd(end);
        metadataBytes += pairEnd - reader.at;
        this.pair(pairEnd);
      } else reader.skip(tag, end);
    }
    if (!hasTime) {
      sink.skipped.add("an entry has no timestamp");
      return;
    }
    const part = sink.row(this.seconds, this.nanos, stream, lineEnd - lineStart, metadataBytes);
    if (part === undefined) return;
    part.line.copy(reader.bytes, lineStart, lineEnd);
    part.line.end();
    sink.metadata(part, stream, reader.bytes, false);
  }

  /** Reads a timestamp into `seconds` and `nanos`. */
  private time(end: number): void {
    const { reader } = this;
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (tag !== FIRST_NUMBER && tag !== SECOND_NUMBER) {
        reader.skip(tag, end);
        continue;
      }
      reader.varint64(end);
      if (tag === FIRST_NUMBER) this.seconds = reader.signed();
      else this.nanos = reader.low | 0;
    }
  }

  private pair(end: number): void {
    const { reader } = this;
    let nameStart = end;
    let nameEnd = end;
    let valueStart = end;
    let valueEnd = end;
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (tag === FIRST_MESSAGE) {
        nameEnd = reader.lengthEnd(end);
        nameStart = reader.at;
        reader.at = nameEnd;
      } else if (tag === SECOND_MESSAGE) {
        valueEnd = reader.lengthEnd(end);
        valueStart = reader.at;
        reader.at = valueEnd;
      } else reader.skip(tag, end);
    }
    this.sink.pairs.add(nameStart, nameEnd, valueStart, valueEnd);
  }
}
