/**
 * What a decoder hands to the engine: columns of new rows, by table.
 *
 * A decoder runs and its batch is applied on one thread without a pause between them, so the types it saw through `SchemaLookup` still
 * hold when the batch is applied.
 */
import type { DataType, TimeUnit } from "../column/data-type.ts";
import type { TimeVector, Vector } from "../column/vector.ts";
import type { ColumnDefinition, SemanticType, TableSchema } from "./schema.ts";
import type { SeriesDictionary } from "./series-dictionary.ts";

/** New values of one field column. */
export interface FieldWrite {
  readonly name: string;
  readonly type: DataType;
  /** `rowCount` rows; never a dictionary. Borrowed by `Writer.write` until it returns its promise: it copies before it waits. */
  readonly vector: Vector;
  /** A DOUBLE that makes a BIGINT column of its name DOUBLE, where writes may extend tables. Absent: such a column refuses it. */
  readonly widens?: true;
}

/** New rows of one table. A batch may hold several of these for the same table; they apply in order. */
export interface TableWrite {
  readonly table: string;
  /**
   * Set by metric protocols: `table` is a physical table, and each row belongs to the table that its key's tag set names, a logical one on
   * it. There is one field, a DOUBLE without NULL, which becomes the value of each of them whatever it is called there. A thousand metrics
   * so are one write. A metric whose table exists elsewhere (on another physical table, or as an ordinary one whose one field can hold it)
   * is written there.
   */
  readonly tablesOfKeys?: true;
  readonly rowCount: number;
  /** Key of each row's tag set in `WriteBatch.dictionary`. */
  readonly keys: Uint32Array;
  readonly timeUnit: TimeUnit;
  /** Never NULL. */
  readonly times: TimeVector;
  readonly fields: readonly FieldWrite[];
  /**
   * How columns are made that do not exist: a new table gets these, in this order, its time index among them, and then what else the
   * write brings; an existing one gets those of them that the write brings and it lacks. Absent: STRING tags, plain fields, and
   * `greptime_timestamp`.
   */
  readonly shape?: readonly ColumnDefinition[];
}

/** New rows of several tables of one database, to be logged as one record. */
export interface WriteBatch {
  readonly dictionary: SeriesDictionary;
  readonly tables: readonly TableWrite[];
}

/** How tables and columns that do not exist yet are made (contract ingest.md 0.6, 0.7). */
export interface WriteOptions {
  /** False: a missing table or column is an error. */
  readonly autoCreate: boolean;
  /** Options of tables created on the way, e.g. `merge_mode`. */
  readonly tableOptions: Readonly<Record<string, string>>;
  /** Options of single tables created on the way, which add to `tableOptions`. */
  readonly optionsOfTables?: ReadonlyMap<string, Readonly<Record<string, string>>>;
  /** Whether a table that cannot take its rows refuses the whole batch. Absent: the rows of the others are written. */
  readonly allOrNothing?: boolean;
  /** Tables that do not exist yet become logical tables on this physical table, which is made as well; absent: ordinary tables. */
  readonly physicalTable?: string;
  /** Ends the wait for tables that are made later. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called before the write returns its promise when tables that it needs are made later: nothing was taken, and the promise rejects with
   * RegionBusy once the batch may be written again. Whoever lent its arrays and does not decode them again has to keep them until then.
   */
  readonly onLater?: () => void;
}

/** What a write did, once it is durable. */
export interface WriteResult {
  readonly rowCount: number;
}

/** Type and role of an existing column. */
export interface KnownColumn {
  readonly type: DataType;
  readonly semantic: SemanticType;
}

/** What a decoder may ask about existing tables while it decodes, so that a conflict is reported with its line. */
export interface SchemaLookup {
  /** Type of a column, or undefined when the table or the column does not exist. */
  columnOf(database: string, table: string, column: string): KnownColumn | undefined;
  /** Name of the field of a table that has exactly one, for protocols of one value a point. Absent: as if no table had. */
  onlyFieldOf?(database: string, table: string): string | undefined;
  /** Engine and options of a table, or undefined when it does not exist. Absent: as if no table did. */
  rolesOf?(database: string, table: string): Pick<TableSchema, "engine" | "options"> | undefined;
}

/** Takes batches of rows. Implemented by the engine and by ingest threads. */
export interface RowWriter {
  /**
   * Applies a batch: creates what is missing, logs it, waits until the log is on disk, makes it visible. The batch's arrays are copied
   * before the call returns its promise, so the decoder may run again at once.
   *
   * Rows of a table that cannot take them are refused, and those of the others written all the same (unless `allOrNothing`).
   *
   * @throws DbError DatabaseNotFound, TableNotFound (autoCreate off), InvalidArguments (a column of another type),
   *   RegionBusy (tables were made or changed since it was decoded: nothing was written; decode it again),
   *   StorageUnavailable (the log cannot be written), RateLimited (over the memory limit); PartlyWritten with the code of what was
   *   refused, once the rest is durable
   */
  write(database: string, batch: WriteBatch, options: WriteOptions): Promise<WriteResult>;
}

/** Takes batches of rows and of deletes. Implemented by the engine. */
export interface Writer extends RowWriter {
  /**
   * Deletes rows by tag sets and times: a batch without fields, a key a row. Tags that a set leaves out count as a write that leaves them
   * out. The result counts the keys sent, whether rows were there or not. The batch's arrays are copied as those of a write.
   *
   * @throws DbError TableNotFound, TableColumnNotFound (a tag), InvalidArguments (append mode), StorageUnavailable, RateLimited
   */
  delete(database: string, batch: WriteBatch): Promise<WriteResult>;
}
