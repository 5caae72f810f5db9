/**
 * Streams by the bytes of their label set: the key of a known one costs a hash and a comparison, no string.
 */
import { longerBytes } from "../../base/bytes/longer-array.ts";
import { fnv1a } from "../../base/bytes/hash.ts";
import { NAME_BYTES_MAX, SERIES_KEY_BYTES_MAX, TABLE_COLUMNS_MAX } from "../../base/limits.ts";
import { SERIES_DICTIONARY_BYTES_MAX, SeriesDictionary } from "../../table/series-dictionary.ts";
import type { Labels } from "./labels.ts";
import { LOG_COLUMNS } from "./log-rows.ts";

/** A stream of a table. */
export interface Stream {
  /** In the dictionary of the batch. */
  readonly key: number;
  /** Labels that stand in the metadata of its rows, as the inside of a JSON object; empty for nearly all streams. */
  readonly metadata: Uint8Array;
  /** Why its entries cannot be kept. */
  readonly refusal?: string;
}

const RESERVED: ReadonlySet<string> = new Set(Object.values(LOG_COLUMNS));
const NO_NAMES: ReadonlySet<string> = new Set();
const NOTHING = new Uint8Array(0);
const encoder = new TextEncoder();

/** See the file header. */
export class Streams {
  readonly dictionary: SeriesDictionary;
  private scratch: Uint8Array<ArrayBuffer> = new Uint8Array(4096);
  private table = "";
  private prefix = 0;
  /** By key: streams whose labels do not all stand in columns of their own. */
  private readonly special: Map<number, Stream> = new Map();

  /** Labels of these names stand in the metadata. */
  private readonly reserved: ReadonlySet<string>;

  /** @param keepsReserved labels with the names of columns are tags like others, for rows that go elsewhere */
  constructor(bytesMax: number = SERIES_DICTIONARY_BYTES_MAX, keepsReserved = false) {
    this.reserved = keepsReserved ? NO_NAMES : RESERVED;
    this.dictionary = new SeriesDictionary(bytesMax);
  }

  /** Starts a request to a table; between two requests what is known may be forgotten. */
  begin(table: string): void {
    if (this.dictionary.full) {
      this.dictionary.clear();
      this.special.clear();
    }
    this.table = table;
    const name = encoder.encode(table);
    this.reserve(name.length + 2);
    this.scratch.set(name, 0);
    this.prefix = name.length + 1;
    this.scratch[name.length] = 0; // Ends the table's name, which has no NUL.
  }

  /**
   * The stream whose label set is `source[start, end)` in the form `form` (each of the protocol's forms has a number).
   *
   * @param parse reads the labels of one that is not known
   */
  of(source: Uint8Array, start: number, end: number, form: number, parse: () => Labels): Stream {
    const length = this.prefix + 1 + end - start;
    this.reserve(length);
    const { scratch, dictionary } = this;
    scratch[this.prefix] = form;
    scratch.set(source.subarray(start, end), this.prefix + 1);
    const hash = fnv1a(scratch, 0, length);
    const known = dictionary.find(scratch, 0, length, hash);
    if (known >= 0) return this.special.get(known) ?? { key: known, metadata: NOTHING };
    const labels = parse();
    const refusal = refusalOf(labels);
    if (refusal !== undefined) return { key: -1, metadata: NOTHING, refusal };
    const isTag = labels.names.map((name) => !this.reserved.has(name));
    const names = labels.names.filter((_, i) => isTag[i]);
    const values = labels.values.filter((_, i) => isTag[i]);
    const key = dictionary.add(scratch, 0, length, hash, { table: this.table, names, values });
    if (names.length === labels.names.length) return { key, metadata: NOTHING };
    const others = labels.names.flatMap((name, i) => (isTag[i] ? [] : [[name, labels.values[i]] as const]));
    const stream = { key, metadata: encoder.encode(JSON.stringify(Object.fromEntries(others)).slice(1, -1)) };
    this.special.set(key, stream);
    return stream;
  }

  private reserve(length: number): void {
    if (length <= this.scratch.length) return;
    this.scratch = longerBytes(this.scratch, this.prefix, length * 2);
  }
}

function refusalOf({ names, values }: Labels): string | undefined {
  if (names.length > TABLE_COLUMNS_MAX) return `a stream has ${names.length} labels; a table has ${TABLE_COLUMNS_MAX} columns at most`;
  let bytes = 0;
  for (const [i, name] of names.entries()) {
    const length = Buffer.byteLength(name);
    if (length > NAME_BYTES_MAX) return `the name of a label has ${length} bytes; at most ${NAME_BYTES_MAX} are allowed`;
    bytes += length + Buffer.byteLength(values[i] ?? "");
  }
  if (bytes <= SERIES_KEY_BYTES_MAX) return undefined;
  return `the labels of a stream take ${bytes} bytes; at most ${SERIES_KEY_BYTES_MAX} are allowed`;
}
