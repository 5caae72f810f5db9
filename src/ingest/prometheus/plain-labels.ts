/**
 * Labels of a new series of version 1, read from their bytes without a string: names and metrics are looked up by their bytes, and values
 * stay in the series' key, where `locateLabels` finds them again.
 *
 *   label = 0x0a length | 0x0a length name | 0x12 length value         lengths of labels and values below 16,384, of names below 128
 *
 * Only what is usual: ASCII, no empty text, every label as name and value.
 */
import { utf8Text } from "../../column/text-table.ts";
import type { TagShape } from "../../table/series-dictionary.ts";
import { KeyIndex } from "../common/key-index.ts";
import { type LabelNode, LabelShapes } from "./label-shapes.ts";
import { METRIC } from "./label-set.ts";
import type { RemoteWriteOptions } from "./types.ts";

const LABEL = 0x0a;
const NAME = 0x0a;
const VALUE = 0x12;
const NONE: readonly string[] = [];

/** Where the parts of a label stand. */
interface LabelPlace {
  nameStart: number;
  nameEnd: number;
  valueStart: number;
  valueEnd: number;
}

const place: LabelPlace = { nameStart: 0, nameEnd: 0, valueStart: 0, valueEnd: 0 };

/** Finds the tag values of a key that `PlainLabels` took: those of all labels but the metric's. A `ValueLocator`. */
export function locateLabels(bytes: Uint8Array, start: number, end: number, _: TagShape, spans: Uint32Array, at: number): void {
  let value = at;
  for (let label = start; label < end; label = place.valueEnd) {
    findLabel(bytes, label, end, place);
    if (isMetricName(bytes, place.nameStart, place.nameEnd)) continue;
    spans[value++] = place.valueStart;
    spans[value++] = place.valueEnd;
  }
}

/** See the file header. */
export class PlainLabels {
  private readonly texts: KeyIndex = new KeyIndex();
  private readonly shapes: LabelShapes;
  private readonly textOf = (number: number): string => this.texts.dictionary.shapeOf(number).table;

  constructor(options: RemoteWriteOptions) {
    this.shapes = new LabelShapes(options);
  }

  get memoryBytes(): number {
    return this.texts.memoryBytes + this.shapes.memoryBytes;
  }

  /** Forgets everything. */
  clear(): void {
    this.texts.clear();
    this.shapes.clear();
  }

  /** The shape of the labels in `[start, end)`; undefined when they are not usual. */
  shapeOf(bytes: Uint8Array, view: DataView, start: number, end: number): TagShape | undefined {
    if (this.texts.dictionary.full) return undefined;
    let node: LabelNode | undefined = this.shapes.root;
    let metric = -1;
    for (let at = start; at < end; at = place.valueEnd) {
      if (!findLabel(bytes, at, end, place) || !isAscii(bytes, place)) return undefined;
      const name = this.numberOf(bytes, view, place.nameStart, place.nameEnd);
      node = node.children.get(name) ?? this.shapes.step(node, name, this.textOf(name));
      if (node === undefined || !node.isUsual) return undefined;
      if (node.isMetric) metric = this.numberOf(bytes, view, place.valueStart, place.valueEnd);
    }
    return metric < 0 ? undefined : this.shapes.shapeAt(node, metric, this.textOf);
  }

  /** The number of an ASCII text, which comes behind the same one as last time more often than not. */
  private numberOf(bytes: Uint8Array, view: DataView, start: number, end: number): number {
    const { texts } = this;
    const guess = texts.guess(view, start, end);
    let number = guess >= 0 && texts.dictionary.lengths[guess] === end - start ? guess : texts.find(view, start, end);
    if (number < 0) number = texts.add(bytes, start, end, { table: utf8Text(bytes, start, end), names: NONE, values: NONE });
    texts.follow(number);
    return number;
  }
}

/** Reads the label at `at`; false when it is not usual. */
function findLabel(bytes: Uint8Array, at: number, end: number, found: LabelPlace): boolean {
  if (bytes[at] !== LABEL) return false;
  let start = at + 1;
  let length = bytes[start++] as number;
  if (length >= 0x80) {
    const second = bytes[start++] as number;
    if (second >= 0x80) return false;
    length = (length & 0x7f) | (second << 7);
  }
  const labelEnd = start + length;
  if (labelEnd > end || bytes[start] !== NAME) return false;
  const nameLength = bytes[start + 1] as number;
  const nameStart = start + 2;
  const nameEnd = nameStart + nameLength;
  if (nameLength === 0 || nameLength >= 0x80 || nameEnd + 2 > labelEnd || bytes[nameEnd] !== VALUE) return false;
  let valueStart = nameEnd + 1;
  let valueLength = bytes[valueStart++] as number;
  if (valueLength >= 0x80) {
    const second = bytes[valueStart++] as number;
    if (second >= 0x80) return false;
    valueLength = (valueLength & 0x7f) | (second << 7);
  }
  if (valueLength === 0 || valueStart + valueLength !== labelEnd) return false;
  found.nameStart = nameStart;
  found.nameEnd = nameEnd;
  found.valueStart = valueStart;
  found.valueEnd = labelEnd;
  return true;
}

function isAscii(bytes: Uint8Array, { nameStart, nameEnd, valueStart, valueEnd }: LabelPlace): boolean {
  let bits = 0;
  for (let i = nameStart; i < nameEnd; i++) bits |= bytes[i] as number;
  for (let i = valueStart; i < valueEnd; i++) bits |= bytes[i] as number;
  return bits < 0x80;
}

function isMetricName(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start !== METRIC.length) return false;
  for (let i = 0; i < METRIC.length; i++) if (bytes[start + i] !== METRIC.charCodeAt(i)) return false;
  return true;
}
