/**
 * The JSON form of a push:
 *
 *   {"streams": [{"stream": {"name": "value"}, "values": [["<nanoseconds>", "<line>", {"name": "value"}], ...]}, ...]}
 *
 * What is JSON but not of this shape is skipped and counted; text that is no JSON refuses the whole push.
 */
import { Code, JsonScanner } from "../../format/json/scanner.ts";
import { unescapeJson } from "../../format/json/text.ts";
import { type Labels, sortedLabels } from "./labels.ts";
import type { PushSink } from "./push-sink.ts";
import type { Stream, Streams } from "./streams.ts";
import { LokiBodyError } from "./types.ts";

const FORM = 2;
const encoder = new TextEncoder();
const decoder = new TextDecoder();
const STREAMS: Uint8Array = encoder.encode("streams");
const STREAM: Uint8Array = encoder.encode("stream");
const VALUES: Uint8Array = encoder.encode("values");
const NO_LABELS: Uint8Array = encoder.encode("{}");
/** Digits of a fraction of a second. */
const NANO_DIGITS = 9;
/** Digits of the largest number of 64 bits. */
const TIME_DIGITS_MAX = 19;

/** Reads one push after the other. */
export class JsonPush {
  private readonly json: JsonScanner = new JsonScanner();
  private readonly sink: PushSink;
  private readonly streams: Streams;
  private seconds = 0;
  private nanos = 0;

  constructor(sink: PushSink, streams: Streams) {
    this.sink = sink;
    this.streams = streams;
  }

  /** Reads a whole body. @throws JsonError, LokiBodyError */
  read(bytes: Uint8Array): void {
    const { json } = this;
    json.open(bytes);
    if (json.peek() !== Code.brace) {
      json.skip();
      json.finish();
      throw new LokiBodyError("it is not an object");
    }
    let hasStreams = false;
    if (json.enterObject()) {
      do {
        json.key();
        if (!json.is(STREAMS)) json.skip();
        else if (json.peek() === Code.bracket) {
          hasStreams = true;
          this.list();
        } else throw new LokiBodyError("`streams` is not an array");
      } while (json.nextMember());
    }
    json.finish();
    if (!hasStreams) throw new LokiBodyError("it has no `streams`");
  }

  private list(): void {
    const { json, sink } = this;
    if (!json.enterArray()) return;
    do {
      if (json.peek() === Code.brace) this.stream();
      else {
        json.skip();
        sink.skipped.add("a stream is not an object");
      }
    } while (json.nextElement());
  }

  private stream(): void {
    const { json, sink } = this;
    let stream: Stream | undefined;
    /** Where values stand that came before the labels. */
    let valuesAt = -1;
    let hasValues = false;
    if (json.enterObject()) {
      do {
        json.key();
        if (json.is(STREAM) && json.peek() === Code.brace) {
          const start = json.at;
          json.skip();
          stream = this.labelled(json.bytes, start, json.at);
        } else if (json.is(VALUES) && json.peek() === Code.bracket) {
          hasValues = true;
          if (stream !== undefined) this.values(stream);
          else {
            valuesAt = json.at;
            json.skip();
          }
        } else json.skip();
      } while (json.nextMember());
    }
    if (!hasValues) sink.skipped.add("a stream has no array `values`");
    if (valuesAt < 0) return;
    const end = json.at;
    json.at = valuesAt;
    this.values(stream ?? this.labelled(NO_LABELS, 0, NO_LABELS.length));
    json.at = end;
  }

  private labelled(source: Uint8Array, start: number, end: number): Stream {
    return this.streams.of(source, start, end, FORM, () => labelsOf(decoder.decode(source.subarray(start, end))));
  }

  private values(stream: Stream): void {
    const { json } = this;
    if (!json.enterArray()) return;
    do this.entry(stream);
    while (json.nextElement());
  }

  private entry(stream: Stream): void {
    const { json, sink } = this;
    const isArray = json.peek() === Code.bracket;
    if (!isArray) json.skip();
    if (!isArray || !json.enterArray()) {
      sink.skipped.add("an entry is not an array of a time and a line");
      return;
    }
    let flaw = "";
    if (json.peek() === Code.quote) {
      json.string();
      if (!this.time(json.start, json.stop)) flaw = "a time is not a whole number of nanoseconds";
    } else {
      json.skip();
      flaw = "a time is not a string";
    }
    if (!json.nextElement()) {
      sink.skipped.add("an entry has no line");
      return;
    }
    if (json.peek() === Code.quote) json.string();
    else {
      json.skip();
      flaw ||= "a line is not a string";
    }
    const { start, stop, hasEscape } = json;
    let metadataStart = -1;
    let metadataEnd = -1;
    while (json.nextElement()) {
      const isMetadata = metadataStart < 0 && json.peek() === Code.brace;
      if (isMetadata) metadataStart = json.at;
      json.skip();
      if (isMetadata) metadataEnd = json.at;
    }
    if (flaw !== "") {
      sink.skipped.add(flaw);
      return;
    }
    const part = sink.row(this.seconds, this.nanos, stream, stop - start, metadataEnd - metadataStart);
    if (part === undefined) return;
    const { line } = part;
    if (hasEscape) line.used = unescapeJson(json.bytes, start, stop, line.bytes, line.used);
    else line.copy(json.bytes, start, stop);
    line.end();
    sink.pairs.count = 0;
    if (metadataStart >= 0) this.pairs(metadataStart);
    sink.metadata(part, stream, json.bytes, true);
  }

  /** Gathers the pairs of an object that was skipped over; the cursor stays. */
  private pairs(start: number): void {
    const { json, sink } = this;
    const end = json.at;
    json.at = start;
    if (json.enterObject()) {
      do {
        json.key();
        const nameStart = json.start;
        const nameEnd = json.stop;
        if (json.peek() === Code.quote) {
          json.string();
          sink.pairs.add(nameStart, nameEnd, json.start, json.stop);
        } else json.skip();
      } while (json.nextMember());
    }
    json.at = end;
  }

  /** Reads digits into `seconds` and `nanos`; false when they are none or too many. */
  private time(start: number, stop: number): boolean {
    const { bytes } = this.json;
    const isNegative = bytes[start] === Code.minus;
    const first = isNegative ? start + 1 : start;
    const digits = stop - first;
    if (digits < 1 || digits > TIME_DIGITS_MAX) return false;
    let seconds = 0;
    let nanos = 0;
    for (let at = first; at < stop; at++) {
      const digit = (bytes[at] as number) - 48;
      if (digit < 0 || digit > 9) return false;
      if (stop - at > NANO_DIGITS) seconds = seconds * 10 + digit;
      else nanos = nanos * 10 + digit;
    }
    this.seconds = isNegative ? -seconds : seconds;
    this.nanos = isNegative ? -nanos : nanos;
    return true;
  }
}

/** Labels of a JSON object; what is no string is left out. */
function labelsOf(text: string): Labels {
  const object: unknown = JSON.parse(text);
  const pairs = new Map<string, string>();
  if (typeof object === "object" && object !== null) {
    for (const [name, value] of Object.entries(object))
      if (typeof value === "string" && name !== "") pairs.set(name.toWellFormed(), value.toWellFormed());
  }
  return sortedLabels(pairs);
}
