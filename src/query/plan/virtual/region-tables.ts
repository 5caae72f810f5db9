/**
 * Tables of `information_schema` about regions and files. Each table has one region, of number 0, on one node, of number 0, unless a
 * cluster says otherwise (`region_peers`); a logical table of the metric engine has that of its physical table, which is listed there.
 */
import type { Table } from "../../../table/catalog.ts";
import { CATALOG_NAME } from "../../../table/reserved-names.ts";
import { physicalTableOf } from "../../../table/metric.ts";
import { timeIndexOf } from "../../../table/schema.ts";
import { UNITS_PER_SECOND } from "../../../column/data-type.ts";
import { maskedOptions } from "../../sql/print/secret-options.ts";
import { createdSeconds } from "./created-seconds.ts";
import type { ClusterFacts } from "../../system-facts.ts";
import { clusterPeerRows } from "./cluster-rows.ts";
import {
  allTables,
  type InformationRow,
  type InformationSources,
  type InformationTable,
  informationTable,
  isKnown,
  regionIdOf,
  rowsOfEach,
} from "./information-table.ts";

/** Numbers of a table's region. */
function numbersOf({ schema }: Table): InformationRow {
  return { region_id: regionIdOf(schema.id), table_id: schema.id, region_number: 0, region_group: 0, region_sequence: 0, node_id: 0n };
}

/** The rows that each table with a region of its own has. */
function rowsOfOwners(rowsOf: (table: Table, sources: InformationSources) => Iterable<InformationRow>): InformationTable["rows"] {
  return rowsOfEach((table, sources) => (physicalTableOf(table.schema) === undefined ? rowsOf(table, sources) : []));
}

function* partitionRowsOf({ schema }: Table): Iterable<InformationRow> {
  const { columns = [], rules = [] } = schema.partitions ?? {};
  // The rules are kept and shown; the rows of all of them are in the one region.
  for (const [i, rule] of (rules.length === 0 ? [""] : rules).entries()) {
    yield {
      table_catalog: CATALOG_NAME,
      table_schema: schema.database,
      table_name: schema.name,
      partition_name: `p${i}`,
      partition_ordinal_position: BigInt(i + 1),
      partition_method: "RANGE",
      partition_expression: columns.join(", "),
      partition_description: rule,
      create_time: createdSeconds(schema),
      greptime_partition_id: regionIdOf(schema.id) + BigInt(i),
    };
  }
}

function* infoRowsOf(table: Table, sources: InformationSources): Iterable<InformationRow> {
  const flushed = (): bigint => BigInt(table.files().reduce((most, { sequence }) => Math.max(most, sequence), 0));
  yield {
    ...numbersOf(table),
    state: "Leader(Writable)",
    role: "Leader",
    writable: true,
    flushed_sequence: isKnown(table, sources) ? flushed() : undefined,
    manifest_version: BigInt(table.schema.version),
    region_options: JSON.stringify(maskedOptions(table.schema.options)),
    sst_format: table.schema.options["sst_format"] ?? "flat",
  };
}

/** Rows of `region_peers` of one table. @param cluster undefined: this process is no part of one */
export function* peerRowsOf({ schema }: Table, cluster: ClusterFacts | undefined): Iterable<InformationRow> {
  if (cluster !== undefined) return yield* clusterPeerRows(schema, cluster);
  yield {
    table_catalog: CATALOG_NAME,
    table_schema: schema.database,
    table_name: schema.name,
    region_id: regionIdOf(schema.id),
    peer_id: 0n,
    peer_addr: "",
    is_leader: "Yes",
    status: "ALIVE",
  };
}

/** Rows of `region_peers` of all tables. The cluster is asked once. */
function* peerRows({ catalog, system }: InformationSources): Iterable<InformationRow> {
  const cluster = system.cluster?.();
  for (const table of allTables(catalog)) yield* peerRowsOf(table, cluster);
}

function* statisticsRowsOf(table: Table, sources: InformationSources): Iterable<InformationRow> {
  yield {
    ...numbersOf(table),
    ...(isKnown(table, sources) ? sizesOf(table) : {}),
    written_bytes_since_open: undefined,
    engine: table.schema.engine,
    region_role: "Leader",
  };
}

function sizesOf(table: Table): InformationRow {
  const { rowCount, memoryBytes, fileBytes, fileCount } = table.statistics();
  return {
    region_rows: BigInt(rowCount),
    disk_size: BigInt(fileBytes),
    memtable_size: BigInt(memoryBytes),
    sst_size: BigInt(fileBytes),
    sst_num: BigInt(fileCount),
  };
}

function* fileRowsOf(table: Table): Iterable<InformationRow> {
  const toNanos = 1_000_000_000n / BigInt(unitsPerSecond(table));
  for (const file of table.files()) {
    yield {
      ...numbersOf(table),
      table_dir: file.name.slice(0, file.name.lastIndexOf("/") + 1),
      file_id: String(file.id),
      level: 0,
      file_path: file.name,
      file_size: BigInt(file.byteLength),
      num_rows: BigInt(file.rowCount),
      min_ts: fitting(file.minTime * toNanos),
      max_ts: fitting(file.maxTime * toNanos),
      sequence: BigInt(file.sequence),
      origin_region_id: regionIdOf(table.schema.id),
      visible: true,
    };
  }
}

/** NULL for a time that nanoseconds cannot tell. */
function fitting(nanos: bigint): bigint | undefined {
  return BigInt.asIntN(64, nanos) === nanos ? nanos : undefined;
}

function unitsPerSecond({ schema }: Table): number {
  const { type } = timeIndexOf(schema);
  return type.kind === "timestamp" ? UNITS_PER_SECOND[type.unit] : 1;
}

function* storedRowsOf(table: Table): Iterable<InformationRow> {
  for (const { name, byteLength } of table.files()) yield { file_path: name, file_size: BigInt(byteLength), node_id: 0n };
}

const REGION = "region_id:u64 table_id:u32 region_number:u32";

/** The tables. */
export const REGION_TABLES: readonly InformationTable[] = [
  informationTable(
    "partitions",
    28,
    `table_catalog table_schema table_name partition_name subpartition_name? partition_ordinal_position:i64?
    subpartition_ordinal_position:i64? partition_method? subpartition_method? partition_expression? subpartition_expression?
    partition_description? table_rows:i64? avg_row_length:i64? data_length:i64? max_data_length:i64? index_length:i64? data_free:i64?
    create_time:ts0? update_time:ts0? check_time:ts0? checksum:i64? partition_comment? nodegroup? tablespace_name?
    greptime_partition_id:u64?`,
    rowsOfEach(partitionRowsOf),
  ),
  informationTable(
    "region_info",
    41,
    `${REGION} region_group:u8 region_sequence:u32 state role writable:b committed_sequence:u64? flushed_sequence:u64? manifest_version:u64
    compaction_time_window? region_options sst_format node_id:u64?`,
    rowsOfOwners(infoRowsOf),
  ),
  informationTable(
    "region_peers",
    29,
    "table_catalog table_schema table_name region_id:u64 peer_id:u64? peer_addr? is_leader? status? down_seconds:i64?",
    peerRows,
  ),
  informationTable(
    "region_statistics",
    35,
    `${REGION} region_rows:u64? written_bytes_since_open:u64? query_cpu_time_millis:u64? query_scanned_bytes:u64? disk_size:u64?
    memtable_size:u64? manifest_size:u64? sst_size:u64? sst_num:u64? index_size:u64? engine? region_role?`,
    rowsOfOwners(statisticsRowsOf),
  ),
  // Indexes lie inside the files, so that there is no file of one.
  informationTable(
    "ssts_index_meta",
    39,
    `table_dir index_file_path ${REGION} region_group:u8 region_sequence:u32 file_id index_file_size:u64? index_type target_type target_key
    target_json blob_size:u64 meta_json? node_id:u64?`,
  ),
  informationTable(
    "ssts_manifest",
    37,
    `table_dir ${REGION} region_group:u8 region_sequence:u32 file_id index_version:u64? level:u8 file_path file_size:u64 index_file_path?
    index_file_size:u64? num_rows:u64 num_row_groups:u64? num_series:u64? min_ts:ts9? max_ts:ts9? sequence:u64? origin_region_id:u64
    node_id:u64? visible:b primary_key_min:bin? primary_key_max:bin?`,
    rowsOfOwners(fileRowsOf),
  ),
  informationTable("ssts_storage", 38, "file_path file_size:u64? last_modified_ms:ts3? node_id:u64?", rowsOfOwners(storedRowsOf)),
];
