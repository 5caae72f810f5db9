/**
 * Many groups: rows are spread over parts by a hash of their keys (`kernels/spread-rows.ts`), and each part has a table and states of its
 * own, which stay in the cache while some thousand rows of it are worked on.
 *
 *   batch ─► keys as words (of text: its code), arguments as doubles ─► places of the parts ─► groups of a part, 4,096 rows at a time
 *   batch whose arguments are no numbers ─► gathered, part by part ───────────────────────────┘
 */
import { assert } from "../../../base/assert.ts";
import { presenceOf } from "../../../column/coded-text.ts";
import type { ColumnHeader } from "../../../column/batch.ts";
import { type DataType, INT32 } from "../../../column/data-type.ts";
import { sliceBatch } from "../../../column/slice.ts";
import { textTableOf } from "../../../column/text-table.ts";
import type { BytesVector, CodedVector, DictionaryVector, Vector } from "../../../column/vector.ts";
import { atOnce, inTurns } from "../../../base/scheduler/pace.ts";
import { VectorEvaluator } from "../../expression/evaluator.ts";
import { expressionKey, isVolatile, type TypedExpression } from "../../expression/expression.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import type { PlanNode } from "../contract/node.ts";
import { growth } from "../../function/aggregate/accumulator.ts";
import { keyHashes } from "../group-keys/key-hashes.ts";
import { isBytesKey, TextCodes } from "../group-keys/text-codes.ts";
import { gather, gatherRuns } from "../kernels/gather.ts";
import { type LaneForm, laneFormOf, lanesInPlace, writeLanes } from "../kernels/lanes.ts";
import {
  beginHashes,
  byPart,
  type ComingColumn,
  foldWords,
  PARTS,
  hashTexts,
  partsOf,
  spreadBytes,
  type SpreadForm,
  SpreadRows,
} from "../kernels/spread-rows.ts";
import type { AggregateCall } from "../node-parts/aggregate-call.ts";
import { gatherBatch } from "../rows/held-rows.ts";
import type { Partitions } from "../spill/partitions.ts";
import type { HeldGroups } from "./grouped-in-parts.ts";
import { Groups } from "./groups.ts";

type Aggregate = Extract<PlanNode, { kind: "aggregate" }>;

/** Groups from which on they are spread: their table, slots and states are some MiB, more than the cache of a core. */
const SPREAD_GROUPS = 65_536;
/**
 * The same where the only key is a text, since all of it is copied to be spread. 5M rows of 11 bytes, CPU ms, in one table and spread:
 * 200,000 texts 210 and 350, 400,000 290 and 355, 1M 465 and 395.
 */
const SPREAD_TEXTS = 524_288;
/** Memory that must be free beside the places of rows, for groups of rows that were not counted when they came. */
const FREE_BYTES_MIN = 16 * 1024 * 1024;
/** Columns of rows at most. Reason: each takes 6 to 12 MiB. */
const COLUMNS_MAX = 8;

const ONE_WORD: LaneForm = { kind: "integer", width: 1, isSigned: true };

/** A key: words of its values, codes of its texts, or its texts where it is the only key. */
interface KeyColumn {
  readonly type: DataType;
  readonly evaluator: VectorEvaluator;
  readonly form: LaneForm | "bytes";
  readonly codes: TextCodes | undefined;
  words: Int32Array;
}

/** An argument of some aggregates. */
interface ArgumentColumn {
  readonly expression: TypedExpression;
  readonly evaluator: VectorEvaluator;
}

/** Whether groups can be spread: by keys of rows, with states that can be taken apart. */
export function maySpread({ keys, aggregates }: Aggregate, { states }: Groups): boolean {
  if (keys.length === 0 || keys.length + aggregates.length > COLUMNS_MAX) return false;
  if (keys.some(({ kind, type }) => kind !== "row" || (laneFormOf(type) === undefined && !isBytesKey(type)))) return false;
  return states.every((state) => state.adopt !== undefined);
}

/** Groups from which on they are spread. */
export function spreadFrom({ keys }: Aggregate): number {
  const [first] = keys;
  return keys.length === 1 && first?.kind === "row" && isBytesKey(first.type) ? SPREAD_TEXTS : SPREAD_GROUPS;
}

const DOUBLE: SpreadForm = "double";

/** What a key is held as: words, a code of a text among others, or the text of the only key. */
function formOf(type: DataType, { keys }: Aggregate): SpreadForm {
  const form = laneFormOf(type);
  if (form === undefined) return keys.length === 1 ? "bytes" : "word";
  return form.width === 1 ? "word" : "pair";
}

/** See the file header. */
export class SpreadGroups implements HeldGroups {
  readonly rowsAtOnce: number;
  readonly rowBytes: number;
  private readonly node: Aggregate;
  private readonly context: ExecContext;
  private readonly keys: readonly KeyColumn[];
  private readonly args: readonly ArgumentColumn[];
  private readonly parts: readonly Groups[];
  private readonly rows: SpreadRows;
  private readonly needed: ReadonlySet<number> | undefined;
  /** Hears of the bytes of texts that are held by now. */
  private readonly held: (bytes: number) => void;
  private hashes = new Int32Array(0);
  private partOfRow: Uint8Array = new Uint8Array(0);

  private constructor(node: Aggregate, from: Groups, context: ExecContext) {
    const headers = node.input.columns;
    this.node = node;
    this.context = context;
    this.needed = from.needed;
    this.rowsAtOnce = from.rowsAtOnce;
    this.rowBytes = from.rowBytes;
    this.keys = node.keys.map((key): KeyColumn => {
      assert(key.kind === "row", "only keys of rows are spread");
      const { type } = key;
      const evaluator = new VectorEvaluator(key.expression, headers, context);
      const form = laneFormOf(type) ?? (node.keys.length === 1 ? "bytes" : undefined);
      return {
        type,
        evaluator,
        form: form ?? ONE_WORD,
        codes: form === undefined ? new TextCodes(type) : undefined,
        words: new Int32Array(0),
      };
    });
    const args = new Arguments(headers, context);
    const calls = node.aggregates.map(
      (call): AggregateCall => ({ ...call, args: call.args.map((each) => args.placed(each, this.keys.length)) }),
    );
    this.args = args.columns;
    const own = this.nodeOfPart(calls);
    this.parts = Array.from({ length: PARTS }, () => new Groups(own, context, { isPart: true, needed: from.needed }));
    const forms: readonly SpreadForm[] = [...this.keys.map(({ type }) => formOf(type, node)), ...this.args.map(() => DOUBLE)];
    context.budget.reserve(forms.reduce((sum, form) => sum + spreadBytes(form), 0));
    this.held = growth(context.budget.reserve);
    this.rows = new SpreadRows(forms, (part, rowCount, vectors) => this.parts[part]?.add({ rowCount, vectors }));
  }

  /** What a table holds, spread; undefined: there is no memory for it. */
  static async of(node: Aggregate, groups: Groups, context: ExecContext): Promise<SpreadGroups | undefined> {
    const { budget } = context;
    const bytes = [...node.keys.map(({ type }) => formOf(type, node)), ...node.aggregates.flatMap(({ args }) => args.map(() => DOUBLE))]
      .map(spreadBytes)
      .reduce((sum, each) => sum + each, FREE_BYTES_MIN);
    if (!budget.fits(bytes)) return undefined;
    budget.release(budget.used); // What the table holds is counted again, part by part.
    const spread = new SpreadGroups(node, groups, context);
    await inTurns(spread.adopt(groups), context);
    return spread;
  }

  get count(): number {
    return this.parts.reduce((sum, part) => sum + part.count, 0);
  }

  /** The aggregation over keys and arguments as columns. */
  private nodeOfPart(aggregates: readonly AggregateCall[]): Aggregate {
    const keyHeaders = this.keys.map(
      ({ type, codes }, i): ColumnHeader => ({ name: `key ${i}`, type: codes === undefined ? type : INT32 }),
    );
    const headers = [...keyHeaders, ...this.args.map(({ expression: { type } }, i): ColumnHeader => ({ name: `argument ${i}`, type }))];
    return {
      ...this.node,
      input: { kind: "source", name: "", columns: headers, source: { kind: "no-rows" } },
      columns: [...keyHeaders, ...this.node.columns.slice(this.keys.length)],
      keys: keyHeaders.map(({ name, type }, index) => ({ kind: "row", type, expression: { kind: "column", type, index, name } })),
      aggregates,
    };
  }

  /** Half a million texts are 130 ms of work: a step a part. */
  private *adopt(groups: Groups): Generator<void, void> {
    const { count } = groups;
    const coming = this.coming(
      this.keys.map((_, i) => groups.keys.keyVector(i, 0, count)),
      count,
      true,
    );
    const { order, starts } = byPart(this.partsOfRows(coming, count), count);
    const vectors = this.vectorsOf(coming, count);
    for (const [p, part] of this.parts.entries()) {
      const own = order.subarray(starts[p], starts[p + 1]);
      part.adopt(gatherBatch({ rowCount: count, vectors }, own, own.length), groups, own);
      yield;
    }
  }

  add(batch: ExecBatch): undefined {
    const { rowCount } = batch;
    assert(batch.summary === undefined, "rows of keys that are spread do not come as statistics");
    const keys = this.coming(this.keyVectors(batch), rowCount, true);
    const parts = this.partsOfRows(keys, rowCount);
    const args = this.args.map(({ evaluator }) => evaluator.vector(batch));
    const coming: ComingColumn[] = [...keys];
    for (const arg of args) if (arg.kind === "number") coming.push(arg);
    const taken = coming.length === keys.length + args.length ? this.rows.add(coming, parts, rowCount) : 0;
    if (taken === rowCount) return;
    atOnce(this.rows.flushing()); // Rows that came before go before.
    const vectors = [...this.vectorsOf(keys, rowCount), ...args];
    const { order, starts } = byPart(parts, rowCount);
    const ordered = gatherBatch({ rowCount, vectors }, order, rowCount);
    for (const [p, part] of this.parts.entries()) {
      let from = starts[p] as number;
      const to = starts[p + 1] as number;
      while (from < to && (order[from] as number) < taken) from++;
      if (from < to) part.add(sliceBatch(ordered, from, to));
    }
  }

  async addKnown(batch: ExecBatch, others: Partitions): Promise<void> {
    await inTurns(this.rows.flushing(), this.context);
    const { rowCount, runs } = batch;
    const keyVectors = this.keyVectors(batch);
    const keys = this.coming(keyVectors, rowCount, false);
    const vectors = [...this.vectorsOf(keys, rowCount), ...this.args.map(({ evaluator }) => evaluator.vector(batch))];
    const { order, starts } = byPart(this.partsOfRows(keys, rowCount), rowCount);
    // All rows at once: a part has some twenty, whose own arrays would take longer to make than to fill.
    const ordered = gatherBatch({ rowCount, vectors }, order, rowCount);
    const isStranger = new Uint8Array(rowCount);
    let strangers = 0;
    for (const [p, part] of this.parts.entries()) {
      const from = starts[p] as number;
      const to = starts[p + 1] as number;
      if (from === to) continue;
      const left = part.takeKnown(sliceBatch(ordered, from, to));
      for (let i = 0; i < left.length; i++) isStranger[order[from + (left[i] as number)] as number] = 1;
      strangers += left.length;
    }
    if (strangers === 0) return;
    const rest = new Uint32Array(strangers);
    for (let row = 0, at = 0; row < rowCount; row++) if (isStranger[row] !== 0) rest[at++] = row;
    const hashes = keyHashes(
      keyVectors.map((vector) => gather(vector, rest, strangers)),
      this.keys.map(({ type }) => type),
      strangers,
    );
    await others.add({ ...gatherBatch(batch, rest, strangers), runs: runs && gatherRuns(runs, rest, strangers) }, hashes);
  }

  async *batches(): AsyncGenerator<ExecBatch> {
    await inTurns(this.rows.flushing(), this.context);
    for (const part of this.parts) {
      for await (const { rowCount, vectors } of part.batches()) {
        yield { rowCount, vectors: vectors.map((vector, c) => this.textsOfCodes(c, vector, rowCount)) };
      }
    }
  }

  /** A column as it is given out: of codes of texts these, if anybody reads them. */
  private textsOfCodes(column: number, vector: Vector, rowCount: number): Vector {
    const codes = this.keys[column]?.codes;
    return codes === undefined || this.needed?.has(column) === false ? vector : codes.vector(codesOf(vector, rowCount));
  }

  private keyVectors(batch: ExecBatch): readonly Vector[] {
    return this.keys.map(({ evaluator }) => evaluator.vector(batch));
  }

  /** Keys of rows as words; texts that are new have no code unless `isNew`. */
  private coming(vectors: readonly Vector[], rowCount: number, isNew: boolean): readonly ComingColumn[] {
    const coming = this.wordsOf(vectors, rowCount, isNew);
    this.held(this.keys.reduce((sum, { codes }) => sum + (codes?.bytes ?? 0), 0));
    return coming;
  }

  private wordsOf(vectors: readonly Vector[], rowCount: number, isNew: boolean): readonly ComingColumn[] {
    return this.keys.map((key, i): ComingColumn => {
      const vector = vectors[i];
      const { form, codes } = key;
      assert(vector !== undefined, "a vector a key");
      if (form === "bytes") {
        if (key.words.length < rowCount) key.words = new Int32Array(rowCount);
        const texts = textsOf(vector, rowCount);
        hashTexts(texts, rowCount, key.words);
        return { kind: "texts", texts, hashes: key.words };
      }
      const isHere = codes === undefined ? lanesInPlace(vector, form, rowCount) : undefined;
      if (isHere !== undefined) return { kind: "number", values: isHere, validity: presenceOf(vector, rowCount) };
      if (key.words.length < rowCount * form.width) key.words = new Int32Array(rowCount * form.width);
      if (codes !== undefined) {
        codes.codesOf(vector, rowCount, isNew, true, key.words);
        return { kind: "number", values: key.words, validity: undefined };
      }
      writeLanes(vector, form, rowCount, key.words, 0, form.width);
      return { kind: "number", values: key.words, validity: presenceOf(vector, rowCount) };
    });
  }

  private partsOfRows(keys: readonly ComingColumn[], rowCount: number): Uint8Array {
    if (this.hashes.length < rowCount) {
      this.hashes = new Int32Array(rowCount);
      this.partOfRow = new Uint8Array(rowCount);
    }
    beginHashes(this.hashes, rowCount);
    for (const [i, key] of keys.entries()) {
      const form = this.keys[i]?.form ?? "bytes";
      if (key.kind !== "number") foldWords(key.hashes, 1, undefined, rowCount, this.hashes);
      else if (form !== "bytes") foldWords(key.values as Int32Array, form.width, key.validity, rowCount, this.hashes);
    }
    partsOf(this.hashes, rowCount, this.partOfRow);
    return this.partOfRow;
  }

  /** Words as the columns that parts read. */
  private vectorsOf(keys: readonly ComingColumn[], rowCount: number): readonly Vector[] {
    return keys.map((key, i): Vector => {
      const form = this.keys[i]?.form ?? "bytes";
      if (key.kind === "texts") return key.texts;
      if (form === "bytes" || form.width === 1) return key;
      const { values, validity } = key;
      return { kind: "wide", values: new BigInt64Array(values.buffer, values.byteOffset, rowCount), validity };
    });
  }
}

/** A column of texts as they are spread. */
function textsOf(vector: Vector, rowCount: number): BytesVector | CodedVector {
  if (vector.kind === "bytes" || vector.kind === "coded") return vector;
  if (vector.kind === "dictionary") return codedOf(vector, rowCount);
  // All NULL, of any type: there are no values.
  return { kind: "coded", codes: new Uint32Array(rowCount), entries: textTableOf([undefined]) };
}

function codedOf({ codes, dictionary }: DictionaryVector, rowCount: number): CodedVector {
  const texts: (string | undefined)[] = [undefined];
  const known = new Map<number, number>();
  const own = new Uint32Array(rowCount);
  for (let row = 0; row < rowCount; row++) {
    const code = codes[row] as number;
    let found = known.get(code);
    if (found === undefined) {
      const text = dictionary[code];
      found = text === undefined ? 0 : texts.push(text) - 1;
      known.set(code, found);
    }
    own[row] = found;
  }
  return { kind: "coded", codes: own, entries: textTableOf(texts) };
}

function codesOf(vector: Vector, rowCount: number): Uint32Array {
  assert(
    vector.kind === "number" && vector.values instanceof Int32Array,
    `codes of texts are 32-bit integers; got a ${vector.kind} vector`,
  );
  return new Uint32Array(vector.values.buffer, vector.values.byteOffset, rowCount);
}

/** Arguments of aggregates, each once. */
class Arguments {
  readonly columns: ArgumentColumn[] = [];
  private readonly known: Map<string, number> = new Map();
  private readonly headers: readonly ColumnHeader[];
  private readonly context: ExecContext;

  constructor(headers: readonly ColumnHeader[], context: ExecContext) {
    this.headers = headers;
    this.context = context;
  }

  /** The column of an argument, behind `before` others. */
  placed(expression: TypedExpression, before: number): TypedExpression {
    const { type } = expression;
    const text = isVolatile(expression) ? `${this.columns.length}` : expressionKey(expression);
    let at = this.known.get(text);
    if (at === undefined) {
      at = this.columns.push({ expression, evaluator: new VectorEvaluator(expression, this.headers, this.context) }) - 1;
      this.known.set(text, at);
    }
    return { kind: "column", type, index: before + at, name: `argument ${at}` };
  }
}
