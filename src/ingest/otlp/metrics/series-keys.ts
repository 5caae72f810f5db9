/**
 * Keys of series in a dictionary, by the bytes of what makes them: the number of a target, the attributes of a point as sent, and the bound
 * of a bucket or a quantile. No string is made for a known series; what followed the last key before is tried first, and compared by words.
 *
 *   | target u32 | length, KeyValue | length, KeyValue | … | bound f64? |
 */
import { resized } from "../../../base/bytes/longer-array.ts";
import { ProtoReader } from "../../../format/proto/reader.ts";
import type { SeriesDictionary } from "../../../table/series-dictionary.ts";
import { KeyIndex } from "../../common/key-index.ts";
import { AnyValue, Attributes } from "../any-value.ts";
import { addAttributes, type Labels } from "./labels.ts";
import { boundText } from "./metric.ts";
import type { PointReader } from "./point.ts";
import type { Target } from "./targets.ts";

const PREFIX_BYTES = 4;
const EXTRA_BYTES = 8;

/** See the file header. */
export class SeriesKeys {
  private readonly index: KeyIndex;
  private readonly reader: ProtoReader = new ProtoReader();
  private readonly attributes: Attributes = new Attributes();
  private readonly value: AnyValue = new AnyValue();
  private scratch: Uint8Array<ArrayBuffer> = new Uint8Array(1024);
  private view: DataView = new DataView(this.scratch.buffer);
  private attributesEnd = 0;

  constructor(bytesMax: number) {
    this.index = new KeyIndex(bytesMax);
  }

  /** Where the keys are. */
  get dictionary(): SeriesDictionary {
    return this.index.dictionary;
  }

  /** Bytes held. */
  get memoryBytes(): number {
    return this.index.memoryBytes;
  }

  /** Forgets all keys. */
  clear(): void {
    this.index.clear();
  }

  /** Takes the attributes of a point; `keyOf` then gives its keys. */
  begin(bytes: Uint8Array, { spans, spanEnd }: PointReader): void {
    let to = PREFIX_BYTES;
    for (let i = 0; i < spanEnd; i += 2) {
      const stop = spans[i + 1] as number;
      const start = spans[i] as number;
      this.reserve(to + stop - start + EXTRA_BYTES);
      const { scratch } = this;
      for (let at = start; at < stop; at++) scratch[to++] = bytes[at] as number;
    }
    this.attributesEnd = to;
  }

  /** The key of the attributes in a target, with a bound or quantile. @throws ProtoError when an attribute of a new series is none */
  keyOf(target: Target, extra: number | undefined): number {
    const { view, index, attributesEnd } = this;
    view.setUint32(0, target.id, true);
    const end = extra === undefined ? attributesEnd : attributesEnd + EXTRA_BYTES;
    if (extra !== undefined) view.setFloat64(attributesEnd, extra, true);
    let key = index.guess(view, 0, end);
    if (key < 0 || index.dictionary.lengths[key] !== end) key = index.find(view, 0, end);
    if (key < 0) key = this.add(target, extra, end);
    index.follow(key);
    return key;
  }

  private add(target: Target, extra: number | undefined, end: number): number {
    const names: string[] = [];
    const values: string[] = [];
    for (const [name, value] of this.labelsOf(target, extra)) {
      if (value === "") continue;
      names.push(name);
      values.push(value);
    }
    return this.index.add(this.scratch, 0, end, { table: target.table, names, values });
  }

  private labelsOf(target: Target, extra: number | undefined): Labels {
    const labels: Labels = new Map(target.labels);
    const { reader, attributes } = this;
    reader.open(this.scratch.subarray(PREFIX_BYTES, this.attributesEnd));
    attributes.count = 0;
    const end = this.attributesEnd - PREFIX_BYTES;
    while (reader.at < end) attributes.push(reader, end);
    addAttributes(labels, reader, attributes, this.value, target.strategy);
    if (extra !== undefined && target.extra !== undefined) labels.set(target.extra, boundText(extra));
    return labels;
  }

  private reserve(bytes: number): void {
    if (bytes <= this.scratch.length) return;
    this.scratch = resized(this.scratch, bytes * 2);
    this.view = new DataView(this.scratch.buffer);
  }
}
