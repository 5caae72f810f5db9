import { beforeEach, expect, test } from "bun:test";
import { checkRows } from "../../../../test/support/query-check.ts";
import { QueryFixture } from "../../../../test/support/query-fixture.ts";

let fixture: QueryFixture;
beforeEach(async () => {
  fixture = new QueryFixture();
  await fixture.sql(`CREATE TABLE t (host STRING, idc STRING SKIPPING INDEX INVERTED INDEX, msg STRING FULLTEXT INDEX,
    v DOUBLE DEFAULT 1.5 COMMENT 'c',
    ts TIMESTAMP(6) DEFAULT now(), TIME INDEX (ts), PRIMARY KEY (idc, host))
    WITH (ttl = '7d', 'greptime.semantic.signal_type' = 'log', 'greptime.semantic.metric.unit' = 'By')`);
});

const check = (query: string, rows: readonly (readonly unknown[])[]): Promise<void> => checkRows(fixture, query, rows);

test("has its 52 tables, each of which can be read", async () => {
  const names = (await fixture.sql("SHOW TABLES FROM information_schema")).rows.map(([name]) => String(name));
  expect(names.length).toBe(52);
  for (const name of names) {
    const { columns } = await fixture.sql(`SELECT * FROM information_schema.${name}`);
    const described = (await fixture.sql(`DESC information_schema.${name}`)).rows.map(([column]) => column);
    expect(described).toEqual([...columns]);
    await check(`SELECT count(*) FROM information_schema.columns WHERE table_name = '${name}'`, [[columns.length]]);
  }
});

test("lists itself with ids that never change", async () => {
  await check(
    "SELECT table_name, table_id, table_type, engine, temporary FROM information_schema.tables WHERE table_id IN (2, 3, 8, 45) ORDER BY 2",
    [
      ["numbers", 2, "LOCAL TEMPORARY", "test_engine", "Y"],
      ["tables", 3, "LOCAL TEMPORARY", "", "Y"],
      ["build_info", 8, "LOCAL TEMPORARY", "", "Y"],
      ["flow_statistics", 45, "LOCAL TEMPORARY", "", "Y"],
    ],
  );
  await check("SELECT count(*), count(DISTINCT table_id) FROM information_schema.tables WHERE table_schema = 'information_schema'", [
    [52, 52],
  ]);
});

test("describes columns", async () => {
  await check(
    `SELECT column_name, ordinal_position, column_key, semantic_type, greptime_data_type, data_type, is_nullable, column_default,
      column_comment, character_maximum_length, numeric_precision, datetime_precision
      FROM information_schema.columns WHERE table_name = 't' ORDER BY 2`,
    [
      ["host", 1, "PRI", "TAG", "String", "string", "YES", undefined, undefined, 2_147_483_647, undefined, undefined],
      ["idc", 2, "PRI", "TAG", "String", "string", "YES", undefined, undefined, 2_147_483_647, undefined, undefined],
      ["msg", 3, "", "FIELD", "String", "string", "YES", undefined, undefined, 2_147_483_647, undefined, undefined],
      ["v", 4, "", "FIELD", "Float64", "double", "YES", "1.5", "c", undefined, 22, undefined],
      ["ts", 5, "TIME INDEX", "TIMESTAMP", "TimestampMicrosecond", "timestamp(6)", "NO", "now()", undefined, undefined, undefined, 6],
    ],
  );
  await check("SELECT semantic_type, column_key FROM information_schema.columns WHERE table_name = 'numbers'", [["TAG", "PRI"]]);
});

test("describes keys and indexes", async () => {
  await check(
    `SELECT constraint_name, column_name, ordinal_position, greptime_index_type FROM information_schema.key_column_usage
      WHERE table_name = 't' ORDER BY 1, 3`,
    [
      ["FULLTEXT INDEX", "msg", 1, "greptime-fulltext-index-bloom"],
      ["INVERTED INDEX", "idc", 1, "greptime-inverted-index-v1"],
      ["PRIMARY", "idc", 1, undefined],
      ["PRIMARY", "host", 2, undefined],
      ["SKIPPING INDEX", "idc", 1, "greptime-bloom-filter-v1"],
      ["TIME INDEX", "ts", 1, undefined],
    ],
  );
  await check("SELECT constraint_name, constraint_type FROM information_schema.table_constraints WHERE table_name = 't' ORDER BY 1", [
    ["PRIMARY", "PRIMARY KEY"],
    ["TIME INDEX", "TIME INDEX"],
  ]);
  await check("SELECT index_name, column_name, greptime_index_type FROM information_schema.statistics ORDER BY 1, seq_in_index", [
    ["FULLTEXT_INDEX_msg", "msg", "fulltext_bloom"],
    ["INVERTED_INDEX_idc", "idc", "inverted"],
    ["PRIMARY", "idc", "dense"],
    ["PRIMARY", "host", "dense"],
    ["SKIPPING_INDEX_idc", "idc", "bloom_filter"],
    ["TIME INDEX", "ts", undefined],
  ]);
});

test("describes regions, partitions and what options mean", async () => {
  await check(
    "SELECT table_name, region_id = table_id_of * 4294967296, is_leader, status FROM (SELECT p.*, t.table_id AS table_id_of " +
      "FROM information_schema.region_peers p JOIN information_schema.tables t ON p.table_name = t.table_name) x",
    [["t", true, "Yes", "ALIVE"]],
  );
  await check("SELECT partition_name, partition_description FROM information_schema.partitions", [["p0", ""]]);
  await check("SELECT state, role, writable FROM information_schema.region_info", [["Leader(Writable)", "Leader", true]]);
  await check("SELECT region_rows, region_role FROM information_schema.region_statistics", [[0, "Leader"]]);
  await check("SELECT signal_type, source, semantic_options FROM information_schema.table_semantics", [
    ["log", undefined, '{"metric.unit":"By"}'],
  ]);
});

test("describes the server", async () => {
  await check("SELECT engine, support FROM INFORMATION_SCHEMA.ENGINES ORDER BY 1", [
    ["metric", "YES"],
    ["mito", "DEFAULT"],
  ]);
  await check("SELECT character_set_name, maxlen FROM information_schema.character_sets", [["utf8", 4]]);
  await check("SELECT collation_name, id FROM information_schema.collations", [["utf8_bin", 1]]);
  await check("SELECT pkg_version FROM information_schema.build_info", [["0.0.0"]]);
  await check("SELECT peer_type, total_memory_bytes > 0 FROM information_schema.cluster_info", [["STANDALONE", true]]);
  await check("SELECT schema_name, options FROM information_schema.schemata WHERE schema_name = 'public'", [["public", ""]]);
  await check("SELECT * FROM information_schema.process_list", []);
});

test("says when tables were created", async () => {
  await check("SELECT table_name, create_time IS NULL FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1", [
    ["numbers", true],
    ["t", true],
  ]);
  await check("SELECT create_time FROM information_schema.partitions WHERE table_name = 't'", [[undefined]]);
});
