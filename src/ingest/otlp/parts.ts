/**
 * A large request in parts, each a request of its own: what stands around records or points comes with each of them.
 *
 *   request ─► resource list: resource, url ─► scope list: scope, url ─► record
 *                                                          └─► metric: name, unit … ─► gauge, sum …: flags ─► point
 *
 *   a field that is short goes into the part as it is; a long one is opened, and its own fields go in
 *   a part is full at `bytesMax`, or at four times what stands around its records: all parts together are 1.3 times the request at most
 *
 * What stands around a list is found by a walk over it, as fields may come in any order.
 */
import { ByteWriter } from "../../base/bytes/byte-writer.ts";
import { field, ProtoReader, Wire } from "../../format/proto/reader.ts";

/** What a request's records are. */
export type RecordForm = "records" | "metrics";

/** A message that can be opened: its fields that are lists, by tag, and what each of those is; undefined: it is put in as it is. */
type Form = ReadonlyMap<number, Form | undefined>;

const POINTS: Form = new Map([[field(1, Wire.bytes), undefined]]);
/** Gauge, sum, histogram, exponential histogram, summary. */
const METRIC: Form = new Map([5, 7, 9, 10, 11].map((number) => [field(number, Wire.bytes), POINTS]));

function requestOf(record: Form | undefined): Form {
  const scopeList: Form = new Map([[field(2, Wire.bytes), record]]);
  const resourceList: Form = new Map([[field(2, Wire.bytes), scopeList]]);
  return new Map([[field(1, Wire.bytes), resourceList]]);
}

const FORMS: Readonly<Record<RecordForm, Form>> = { records: requestOf(undefined), metrics: requestOf(METRIC) };

/** Fields that are walked over between two steps: some 2 ms. */
const STEP_FIELDS = 65_536;
/** Times that a part is longer than what stands around its records, at least. */
const AROUND_TIMES = 4;
/** Pieces of the request: the start and the end of each; those that touch are one. */
class Pieces {
  readonly ends: number[] = [];
  bytes = 0;

  add(start: number, end: number): void {
    this.bytes += end - start;
    if (this.ends.at(-1) === start) this.ends[this.ends.length - 1] = end;
    else this.ends.push(start, end);
  }
}

/** A message that is open. */
interface Opened {
  readonly tag: number;
  /** What stands around its lists. */
  readonly around: Pieces;
  /** What of its lists is in the part: pieces of the request, and messages that were opened. */
  contents: (Pieces | Uint8Array)[];
  /** Whether something of it was in any part. */
  isUsed: boolean;
}

/**
 * The parts of a request, each an array of its own; undefined now and then, so that others may run.
 *
 * @param bytesMax beyond which a part is full
 * @throws ProtoError when a length leaves its message
 */
export function partsOf(request: Uint8Array, form: RecordForm, bytesMax: number): Generator<Uint8Array | undefined> {
  return new PartWriter(request, bytesMax).message(0, FORMS[form], 0, request.length);
}

class PartWriter {
  private readonly reader: ProtoReader = new ProtoReader();
  private readonly request: Uint8Array;
  private readonly bytesMax: number;
  /** The request, and what is open in it. */
  private readonly open: Opened[] = [];
  /** Bytes of the request that are in the part. */
  private filled = 0;
  private walked = 0;

  constructor(request: Uint8Array, bytesMax: number) {
    this.request = request;
    this.bytesMax = bytesMax;
    this.reader.open(request);
  }

  /** The parts that are full by the end of a message, which are all parts where it is the request. */
  *message(tag: number, form: Form, start: number, end: number): Generator<Uint8Array | undefined> {
    const { reader } = this;
    const around = new Pieces();
    for (let at = start; at < end; at = reader.at) {
      if (++this.walked % STEP_FIELDS === 0) yield undefined;
      reader.at = at;
      const fieldTag = reader.tag(end);
      reader.skip(fieldTag, end);
      if (!form.has(fieldTag)) around.add(at, reader.at);
    }
    const opened: Opened = { tag, around, contents: [], isUsed: false };
    this.open.push(opened);
    const fullBytes = this.fullBytes();
    for (let at = start; at < end; at = reader.at) {
      if (++this.walked % STEP_FIELDS === 0) yield undefined;
      reader.at = at;
      const fieldTag = reader.tag(end);
      if (form.has(fieldTag)) {
        const inner = form.get(fieldTag);
        const fieldEnd = reader.lengthEnd(end);
        if (inner === undefined || fieldEnd - at <= this.bytesMax) this.put(opened, at, fieldEnd);
        else yield* this.message(fieldTag, inner, reader.at, fieldEnd);
        reader.at = fieldEnd;
        if (this.filled >= fullBytes) yield this.cut();
      } else reader.skip(fieldTag, end);
    }
    if (this.open.length === 1 && opened.contents.length > 0) yield this.cut();
    this.open.pop();
    const outer = this.open.at(-1);
    if (outer !== undefined && (opened.contents.length > 0 || !opened.isUsed)) this.close(opened, outer);
  }

  private put(opened: Opened, start: number, end: number): void {
    let last = opened.contents.at(-1);
    if (!(last instanceof Pieces)) {
      last = new Pieces();
      opened.contents.push(last);
    }
    last.add(start, end);
    opened.isUsed = true;
    this.filled += end - start;
  }

  /** When a part is full of what is in it of the message that is open now. */
  private fullBytes(): number {
    const around = this.open.reduce((bytes, opened) => bytes + opened.around.bytes, 0);
    return Math.max(this.bytesMax, AROUND_TIMES * around);
  }

  /** The part, which is full. What is open stays open, for the next one. */
  private cut(): Uint8Array {
    const { open } = this;
    for (let depth = open.length - 1; depth > 0; depth--) {
      const opened = open[depth] as Opened;
      if (opened.contents.length > 0) this.close(opened, open[depth - 1] as Opened);
    }
    const out = new ByteWriter();
    this.write(out, open[0] as Opened);
    this.filled = 0;
    return out.copy();
  }

  /** Puts what of a message is in the part into the message around it. */
  private close(opened: Opened, outer: Opened): void {
    const out = new ByteWriter();
    this.write(out, opened);
    const head = new ByteWriter(8);
    head.varint(opened.tag);
    head.varint(out.length);
    outer.contents.push(head.copy(), out.copy());
    outer.isUsed = true;
  }

  private write(out: ByteWriter, opened: Opened): void {
    for (const content of [opened.around, ...opened.contents]) {
      if (content instanceof Uint8Array) out.raw(content);
      else for (let i = 0; i < content.ends.length; i += 2) out.raw(this.request.subarray(content.ends[i], content.ends[i + 1]));
    }
    opened.contents = [];
  }
}
