/**
 * The series of one table: dense numbers for distinct tag tuples, and the tags of each number as codes.
 *
 *   dictionary[c]   texts of tag column c by code; code 0 is NULL
 *   codes[c][s]     code of series s in tag column c
 *   slots           by hash of the tuple's codes: series
 *
 * 4 B a tag and 11 to 21 B of slots a series, and each distinct text once (`tag-dictionary.ts`): 75 B and the text for a series with ten
 * tags of which one is its own. Only grows; bounded by SERIES_PER_TABLE_MAX. What workers need lies on shared memory, once it is large.
 */
import { assert } from "../../base/assert.ts";
import { DbError } from "../../base/error.ts";
import { HashSlots, slotOf } from "../../base/bytes/hash-slots.ts";
import { SERIES_PER_TABLE_MAX } from "../../base/limits.ts";
import { StatusCode } from "../../base/status-code.ts";
import { type DataType, STRING } from "../../column/data-type.ts";
import type { TextTable } from "../../column/text-table.ts";
import { tagDefaultText } from "../../table/tag-value.ts";
import { grownWords, powerOfTwoFrom } from "./shared-array.ts";
import { TagColumn, type TagDefinition } from "./tag-column.ts";
import { TagColumns } from "./tag-columns.ts";
import { HASH_START, hashColumn, hashOf } from "./tuple-hash.ts";

let registries = 0;

/** Whether there is memory for series that nobody knew before. */
export interface SeriesRoom {
  /** Why a new one is refused; undefined: it is not. */
  refusal(): string | undefined;
}

const ENDLESS: SeriesRoom = { refusal: () => undefined };

/** See the file header. Invariant: no two series have equal code tuples. */
export class SeriesRegistry extends TagColumns {
  /** Tells the registries of a process apart. */
  readonly id: number = ++registries;
  private readonly slots: HashSlots = new HashSlots(8);
  private capacity = 8;
  /** Series below it are in `slots`. */
  private indexed = 0;
  /** Series that there is to be room for in `slots`, once they are needed; 0: there is. */
  private expected = 0;
  /** The number behind the last that a file had. */
  private next = 0;
  private scratch: Uint32Array<ArrayBuffer> = new Uint32Array(0);
  /** Of the series that are being registered. */
  private hashes: Int32Array<ArrayBuffer> = new Int32Array(0);
  /** Series that writers have added, not files nor memory: those among which the dead are. */
  writtenCount = 0;
  private readonly table: string;
  private readonly room: SeriesRoom;
  private seriesMax: number;
  /** Whose series are being registered: what the log had is taken past the limit, what files have past what memory allows. */
  private isKnown = false;
  private isOfFile = false;

  constructor(table: string, seriesMax: number = SERIES_PER_TABLE_MAX, room: SeriesRoom = ENDLESS) {
    super();
    this.table = table;
    this.seriesMax = seriesMax;
    this.room = room;
  }

  /** One without series, whose tag columns are the same at the same positions. */
  renewed(): SeriesRegistry {
    const renewed = new SeriesRegistry(this.table, SERIES_PER_TABLE_MAX, this.room);
    for (const column of this.columns) {
      const { columnId, name, type } = column;
      const own = new TagColumn(columnId, name, type, renewed.capacity);
      own.initialCode = own.dictionary.encode(column.dictionary.textOf(column.initialCode));
      own.defaultText = column.defaultText;
      renewed.byId.set(columnId, renewed.columns.length);
      renewed.byName.set(name, renewed.columns.length);
      renewed.columns.push(own);
    }
    for (const [name, position] of this.byName) renewed.byName.set(name, position);
    renewed.scratch = new Uint32Array(renewed.columns.length);
    return renewed;
  }

  /** Makes sure that the tag columns exist, in key order; series so far have the default of new ones. Without a type they are text. */
  setColumns(columns: readonly TagDefinition[]): void {
    for (const column of columns) {
      const type = column.type ?? STRING;
      let known = this.byId.get(column.id);
      if (known === undefined) {
        known = this.columns.length;
        this.byId.set(column.id, known);
        this.columns.push(new TagColumn(column.id, column.name, type, this.capacity));
        this.setInitial(this.columnAt(known), tagDefaultText(column.initial ?? column.default, type));
      }
      this.columnAt(known).name = column.name;
      this.columnAt(known).defaultText = tagDefaultText(column.default, type);
      this.byName.set(column.name, known);
    }
    this.scratch = new Uint32Array(this.columns.length);
  }

  private setInitial(column: TagColumn, text: string | undefined): void {
    column.initialCode = column.dictionary.encode(text);
    if (column.initialCode === 0) return;
    column.codes.fill(column.initialCode, 0, this.size);
    column.codeEnd = column.initialCode + 1;
    this.rehash(); // No two series become one: they differ in an older column.
  }

  /** Codes by position that a series has in tag columns that it is older than. */
  initialCodes(): Uint32Array {
    return Uint32Array.from(this.columns, ({ initialCode }) => initialCode);
  }

  /** What a tag set that leaves out the tag column at `position` means. */
  defaultAt(position: number): string | undefined {
    return this.columnAt(position).defaultText;
  }

  /** Ids of the tag columns by position. */
  columnIds(): number[] {
    return this.columns.map((column) => column.columnId);
  }

  /** Type of the tag column at `position`: its texts are those that `table/tag-value.ts` makes of such values. */
  typeAt(position: number): DataType {
    return this.columnAt(position).type;
  }

  /**
   * Code of a value in the tag column at `position`, added if new. Lone surrogates become U+FFFD, as they do in the log and in files: two
   * series that only they tell apart would be one after a restart.
   */
  encode(position: number, value: string | undefined): number {
    return this.columnAt(position).dictionary.encode(value);
  }

  /** As `encode`, of `bytes[start, end)`, which is UTF-8. */
  encodeBytes(position: number, bytes: Uint8Array, start: number, end: number): number {
    return this.columnAt(position).dictionary.encodeBytes(bytes, start, end);
  }

  /** As `TagDictionary.encodeTexts`, of the tag column at `position`. */
  encodeTexts(position: number, texts: TextTable, codes: Uint32Array): void {
    this.columnAt(position).dictionary.encodeTexts(texts, codes);
  }

  /** As `TagDictionary.encodeSpans`, of the tag column at `position`. */
  encodeSpans(
    position: number,
    source: Uint8Array,
    spans: Uint32Array,
    from: number,
    step: number,
    count: number,
    codes: Uint32Array,
  ): void {
    this.columnAt(position).dictionary.encodeSpans(source, spans, from, step, count, codes);
  }

  /**
   * The number of the series with these values, one a tag column by position, added if new.
   *
   * @throws DbError RateLimited when the table has no room for another series
   */
  register(values: readonly (string | undefined)[]): number {
    for (let c = 0; c < this.columns.length; c++) this.scratch[c] = this.columnAt(c).dictionary.encode(values[c]);
    return this.registerCodes(this.scratch);
  }

  /** The number of the series with these values, or -1; nothing is added. */
  find(values: readonly (string | undefined)[]): number {
    const codes = this.scratch;
    for (let c = 0; c < this.columns.length; c++) {
      const code = this.findCode(c, values[c]);
      if (code < 0) return -1;
      codes[c] = code;
    }
    return this.seriesOf(hashOf(codes, this.columns.length), codes);
  }

  /** As `registerBlock`, past the limit: for rows that were acknowledged already, by another thread or before a restart. */
  registerKnownBlock(codes: readonly Uint32Array[], count: number, into: Uint32Array): void {
    const before = this.size;
    this.isKnown = true;
    try {
      this.registerBlock(codes, count, into);
    } finally {
      this.isKnown = false;
      this.writtenCount += this.size - before;
    }
  }

  /** As `registerBlock`, of series of a file: whoever reads it has to know them, whatever memory there is. */
  registerFileBlock(codes: readonly Uint32Array[], count: number, into: Uint32Array): void {
    this.isOfFile = true;
    try {
      const done = this.registerInOrder(codes, count, into);
      if (done === count) return;
      const rest = codes.map((column) => column.subarray(done, count));
      this.registerBlock(rest, count - done, into.subarray(done, count));
      this.next = (into[count - 1] as number) + 1;
    } finally {
      this.isOfFile = false;
    }
  }

  /**
   * Those at the beginning of a file's block that are the series known behind the last one, or certainly new: without slots. Returns how
   * many they are.
   */
  private registerInOrder(codes: readonly Uint32Array[], count: number, into: Uint32Array): number {
    const { scratch } = this;
    for (let i = 0; i < count; i++) {
      for (let c = 0; c < codes.length; c++) scratch[c] = (codes[c] as Uint32Array)[i] as number;
      if (i === 0 && !(this.next < this.size && this.equals(this.next, scratch))) this.next = this.hasNewCode(scratch) ? this.size : 0;
      if (this.next < this.size ? !this.equals(this.next, scratch) : !this.hasNewCode(scratch)) return i;
      if (this.next === this.size) this.append(scratch);
      into[i] = this.next++;
    }
    return count;
  }

  /** Whether no series has one of the codes. */
  private hasNewCode(codes: Uint32Array): boolean {
    for (let c = 0; c < codes.length; c++) if ((codes[c] as number) >= (this.columns[c] as TagColumn).codeEnd) return true;
    return false;
  }

  /** Puts into `slots` what is not there. */
  private index(): void {
    this.slots.reserve(Math.max(this.size, this.expected));
    this.expected = 0;
    const { columns, scratch } = this;
    const kept = scratch.slice(); // It may hold what is looked up.
    for (; this.indexed < this.size; this.indexed++) {
      for (let c = 0; c < columns.length; c++) scratch[c] = (columns[c] as TagColumn).codes[this.indexed] as number;
      this.slots.add(hashOf(scratch, columns.length), this.indexed);
    }
    scratch.set(kept);
  }

  /** Makes room for `count` series: growing step by step copies and hashes all of them again. */
  reserve(count: number): void {
    if (count > this.capacity) this.grow(powerOfTwoFrom(count));
    this.expected = Math.max(this.expected, count);
  }

  /** As `reserve`, of the values of the tag column at `position`: `size` of them, NULL among them, of `textBytes` together. */
  reserveTexts(position: number, size: number, textBytes: number): void {
    this.columnAt(position).dictionary.reserve(size, textBytes);
  }

  /** Whether a new series is refused. */
  get isFull(): boolean {
    return this.size >= this.seriesMax;
  }

  /** From now on takes no new series: those of all threads together are at the limit. */
  close(): void {
    this.seriesMax = this.size;
  }

  /** As `register`, from codes by position. `codes` is borrowed. */
  registerCodes(codes: Uint32Array): number {
    const hash = hashOf(codes, this.columns.length);
    const known = this.seriesOf(hash, codes);
    return known >= 0 ? known : this.add(codes, hash);
  }

  /**
   * As `registerCodes`, of `count` series: `codes[c][i]` is the code of series i in the tag column at position c. Numbers go to `into`,
   * which must not be used when it throws.
   */
  registerBlock(codes: readonly Uint32Array[], count: number, into: Uint32Array): void {
    if (this.hashes.length < count) this.hashes = new Int32Array(count);
    const { hashes, scratch } = this;
    if (this.indexed < this.size || this.expected > 0) this.index();
    hashes.fill(HASH_START, 0, count);
    for (let c = 0; c < codes.length; c++) hashColumn(hashes, codes[c] as Uint32Array, c, count);
    this.slots.fetch(hashes, count);
    for (let i = 0; i < count; i++) {
      for (let c = 0; c < codes.length; c++) scratch[c] = (codes[c] as Uint32Array)[i] as number;
      const hash = hashes[i] as number;
      const known = this.seriesOf(hash, scratch);
      into[i] = known >= 0 ? known : this.add(scratch, hash);
    }
  }

  private seriesOf(hash: number, codes: Uint32Array): number {
    if (this.indexed < this.size || this.expected > 0) this.index();
    const { pairs, mask } = this.slots;
    for (let at = slotOf(hash, mask); ; at = (at + 2) & mask) {
      const series = (pairs[at + 1] as number) - 1;
      if (series < 0 || (pairs[at] === hash && this.equals(series, codes))) return series;
    }
  }

  /** As `registerCodes`, past the limits: the series is known elsewhere. */
  registerKnownCodes(codes: Uint32Array): number {
    this.isKnown = true;
    try {
      return this.registerCodes(codes);
    } finally {
      this.isKnown = false;
    }
  }

  /** Bytes held, with those of slots. */
  override get byteLength(): number {
    return super.byteLength + this.slots.byteLength;
  }

  private equals(series: number, codes: Uint32Array): boolean {
    for (let c = 0; c < this.columns.length; c++) {
      if ((this.columns[c] as TagColumn).codes[series] !== codes[c]) return false;
    }
    return true;
  }

  private add(codes: Uint32Array, hash: number): number {
    const series = this.append(codes);
    this.slots.add(hash, series);
    this.indexed = this.size;
    return series;
  }

  private append(codes: Uint32Array): number {
    if (!this.isKnown) this.checkRoom();
    const series = this.size++;
    if (series === this.capacity) this.grow(this.capacity * 2);
    for (let c = 0; c < this.columns.length; c++) {
      const column = this.columns[c] as TagColumn;
      const code = codes[c] as number;
      column.codes[series] = code;
      if (code >= column.codeEnd) column.codeEnd = code + 1;
    }
    return series;
  }

  /** @throws DbError RateLimited */
  private checkRoom(): void {
    if (this.isFull) {
      throw new DbError(
        StatusCode.RateLimited,
        `cannot add a series to table ${this.table}: it has ${this.size} already, which is the limit; use fewer distinct tag values`,
      );
    }
    if (this.isOfFile) return;
    const why = this.room.refusal();
    if (why !== undefined) throw new DbError(StatusCode.RateLimited, `cannot add a series to table ${this.table}: ${why}`);
    this.writtenCount++;
  }

  private grow(capacity: number): void {
    this.capacity = capacity;
    for (const column of this.columns) column.codes = grownWords(column.codes, this.capacity);
  }

  private rehash(): void {
    this.slots.reset(this.slots.pairs.length / 2);
    const codes = new Uint32Array(this.columns.length);
    for (let series = 0; series < this.size; series++) {
      for (let c = 0; c < codes.length; c++) codes[c] = (this.columns[c] as TagColumn).codes[series] as number;
      this.slots.add(hashOf(codes, codes.length), series);
    }
    this.indexed = this.size;
  }

  protected complete(): void {
    // They always are.
  }

  protected columnAt(position: number): TagColumn {
    const column = this.columns[position];
    if (column === undefined) assert(false, `a tag column of ${this.columns.length}; got position ${position}`);
    return column as TagColumn;
  }
}
