/**
 * The tables that exist and how to change them. Implemented by the engine; used by the query layer and the servers.
 */
import type { Batch } from "../column/batch.ts";
import type { MatchingRows, OverwriteWatch, RowKeys, RowRange } from "./delete.ts";
import type { ScanBatch, ScanMetrics, ScanRequest, TimeRange } from "./scan.ts";
import type { SeriesView } from "./series-view.ts";
import type { SchemaChange, TableDefinition, TableSchema } from "./schema.ts";
import type { SharedScan, ShareLimits } from "./shared-scan.ts";
import type { ViewDefinition, ViewInfo } from "./view.ts";

/** A database (schema) and its options. */
export interface DatabaseInfo {
  readonly name: string;
  readonly options: Readonly<Record<string, string>>;
}

/** Sizes of a table now. */
export interface TableStatistics {
  /** Rows stored: older versions, deleted and expired rows count until a merge takes them away. */
  readonly rowCount: number;
  readonly memoryBytes: number;
  readonly fileBytes: number;
  readonly fileCount: number;
  readonly seriesCount: number;
}

/** A file of a table's rows. */
export interface TableFile {
  readonly id: number;
  /** Path below the data folder. */
  readonly name: string;
  /** 0 in a file that only deletes. */
  readonly rowCount: number;
  readonly byteLength: number;
  /** Of rows and of what it deletes, inclusive, in the unit of the time index. */
  readonly minTime: bigint;
  readonly maxTime: bigint;
  /** Of the newest of its rows. */
  readonly sequence: number;
}

/** What queries read. */
export interface ScannedTable {
  readonly schema: TableSchema;
  /** Tags by series number, as used by `ScanBatch.runs`. */
  readonly series: SeriesView;
  /** Rows that match, from one snapshot taken when the first batch is asked for. @throws DbError TableColumnNotFound */
  scan(request: ScanRequest, metrics?: ScanMetrics): AsyncIterable<ScanBatch>;
  /**
   * The same rows as they are now, in the order of the request, where they are few and in memory; undefined where they must be scanned.
   * Absent: the table does not do that. @throws DbError TableColumnNotFound
   */
  scanAtOnce?(request: ScanRequest): Batch | undefined;
  /**
   * The same rows, from one snapshot taken before this returns a promise, in parts for other threads; undefined when they are few, or
   * wanted in a way that parts cannot give. Absent: the table does not do that.
   */
  share?(request: ScanRequest, limits: ShareLimits, metrics?: ScanMetrics): Promise<SharedScan | undefined>;
  /** How many rows a request meets, about, told before any file is opened. Absent: it is not known. */
  rowsAbout?(request: ScanRequest): number;
  /** Absent: they are not known. */
  statistics?(): TableStatistics;
  /**
   * Resolves when what the table tells of its sizes and times, or of its files, is as of this call. Absent: it always is.
   *
   * @throws DbError StorageUnavailable when whoever knows does not answer
   */
  refreshed?(kind: "figures" | "files"): Promise<void>;
  /** Oldest and newest time of any row, `[start, end)`, or undefined when the table is empty. May be wider than the truth. */
  timeBounds(): TimeRange | undefined;
}

/** One table. A `Table` stays usable after a schema change (`schema` is then the new one); after a drop its calls throw TableNotFound. */
export interface Table extends ScannedTable {
  statistics(): TableStatistics;
  /** Its files now; of a logical table, those of the physical table that it lies on. */
  files(): readonly TableFile[];
  /**
   * Deletes the rows of these keys, where they exist; resolves when that is durable and visible. Rows of the keys that are written later
   * are rows again, without values of the deleted ones.
   *
   * @param unless leaves out rows that were written since it began: another version of them matched
   * @returns how many were left out
   * @throws DbError InvalidArguments for a table in append mode, TableNotFound, StorageUnavailable, RateLimited
   */
  deleteRows(keys: RowKeys, unless?: OverwriteWatch): Promise<number>;
  /** Begins to watch which rows of some times are written, those that are being written now among them. @throws DbError TableNotFound */
  watchOverwrites(timeRange: TimeRange): OverwriteWatch;
  /**
   * Deletes the rows that a plan gives where they are, and returns how many there were; rows that are written meanwhile are looked at
   * again. Absent: whoever runs the plan deletes by keys. @throws DbError as `deleteRows`, RegionBusy
   */
  deleteMatching?(rows: MatchingRows): Promise<number>;
  /** Deletes all rows of a range and returns how many there were. Memory: 24 B a series. @throws DbError as `deleteRows` */
  deleteRange(range: RowRange): Promise<number>;
}

/** Databases and tables. Reads are immediate; changes are durable when the promise resolves. */
export interface Catalog {
  databases(): readonly DatabaseInfo[];
  database(name: string): DatabaseInfo | undefined;
  /** @throws DbError DatabaseAlreadyExists; InvalidArguments for a bad name. Returns false when it existed and `ifNotExists`. */
  createDatabase(name: string, options: Readonly<Record<string, string>>, ifNotExists: boolean): Promise<boolean>;
  /** Drops the database with all its tables. @throws DbError DatabaseNotFound. Returns false when missing and `ifExists`. */
  dropDatabase(name: string, ifExists: boolean): Promise<boolean>;
  tables(database: string): readonly Table[];
  table(database: string, name: string): Table | undefined;
  /** @throws DbError TableAlreadyExists, DatabaseNotFound, InvalidArguments. Returns the existing table when `ifNotExists`. */
  createTable(definition: TableDefinition, ifNotExists: boolean): Promise<Table>;
  /** @throws DbError TableNotFound. Returns false when missing and `ifExists`. */
  dropTable(database: string, name: string, ifExists: boolean): Promise<boolean>;
  /**
   * Changes options of a database; undefined takes one away.
   *
   * @throws DbError DatabaseNotFound; InvalidArguments for one that belongs to the server
   */
  alterDatabase(name: string, options: Readonly<Record<string, string | undefined>>): Promise<void>;
  /**
   * Removes rows: all of them, or those of files whose times all lie in one of `ranges`, in the unit of the time index. Scans under way
   * go on with what they see; a write beside it is wholly removed or wholly kept.
   *
   * @throws DbError TableNotFound
   */
  truncateTable(database: string, name: string, ranges?: readonly TimeRange[]): Promise<void>;
  /** @throws DbError TableNotFound, TableAlreadyExists (renamed to), TableColumnNotFound, TableColumnExists, InvalidArguments */
  alterTable(database: string, name: string, change: SchemaChange): Promise<Table>;
  /** Views of a database, by name. */
  views(database: string): readonly ViewInfo[];
  view(database: string, name: string): ViewInfo | undefined;
  /**
   * Makes a view; with `orReplace`, in the place of one of that name.
   *
   * @throws DbError TableAlreadyExists for the name of a table or a view, DatabaseNotFound, InvalidArguments
   */
  createView(definition: ViewDefinition, orReplace: boolean): Promise<void>;
  /** @throws DbError TableNotFound. Returns false when missing and `ifExists`. */
  dropView(database: string, name: string, ifExists: boolean): Promise<boolean>;
}
