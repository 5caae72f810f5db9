/** `pg_class`, `pg_attribute` and what hangs on them: defaults, comments, and the lists `pg_tables`, `pg_views`, `pg_indexes`. */
import { typeModifier, typeOid, typeShape } from "../../../postgres-types.ts";
import { type InformationRow, type InformationSources, type InformationTable, informationTable, isKnown } from "../information-table.ts";
import { indexDefinition } from "./pg-keys.ts";
import { databaseOid, OWNER_OID, oidOf, relationOid } from "./pg-oids.ts";
import type { PgRelation, RelationColumn, RelationIndex } from "./pg-relations.ts";
import { OWNER } from "./pg-server.ts";

/** Number of `pg_class`, of which comments say that they are about a relation. */
const CLASS_OID = relationOid("pg_catalog", "pg_class");

const METHOD_OIDS: Readonly<Record<RelationIndex["method"], number>> = { btree: 403, inverted: 9001, skipping: 9002, fulltext: 9003 };

/** What PostgreSQL says of a table that it has not counted. */
const UNKNOWN_ROWS = -1;

const CLASS_ROW: InformationRow = {
  reltype: 0,
  reloftype: 0,
  relowner: OWNER_OID,
  reltablespace: 0,
  relpages: 1,
  relallvisible: 0,
  reltoastrelid: 0,
  relisshared: false,
  relpersistence: "p",
  relchecks: 0,
  relhasrules: false,
  relhastriggers: false,
  relhassubclass: false,
  relrowsecurity: false,
  relforcerowsecurity: false,
  relispopulated: true,
  relispartition: false,
  relrewrite: 0,
  relfrozenxid: 0,
  relminmxid: 0,
};

function* classRows(relation: PgRelation, sources: InformationSources): Iterable<InformationRow> {
  const { oid, name, kind, database, columns, indexes, table } = relation;
  yield {
    ...CLASS_ROW,
    oid,
    relname: name,
    relnamespace: databaseOid(database),
    relam: kind === "r" ? 2 : 0,
    relfilenode: kind === "r" ? oid : 0,
    reltuples: table === undefined ? 0 : isKnown(table, sources) ? table.statistics().rowCount : UNKNOWN_ROWS,
    relhasindex: indexes.length > 0,
    relkind: kind,
    relnatts: columns.length,
    relreplident: kind === "r" ? "d" : "n",
  };
  for (const index of indexes) {
    yield {
      ...CLASS_ROW,
      oid: index.oid,
      relname: index.name,
      relnamespace: databaseOid(database),
      relam: METHOD_OIDS[index.method],
      relfilenode: index.oid,
      reltuples: 0,
      relhasindex: false,
      relkind: "i",
      relnatts: index.columns.length,
      relreplident: "n",
    };
  }
}

function attributeRow(attrelid: number, attnum: number, column: RelationColumn, isKey: boolean): InformationRow {
  const { name, type, nullable } = column;
  const atttypid = typeOid(type);
  const { length, byValue, align, storage } = typeShape(atttypid);
  return {
    attrelid,
    attname: name,
    atttypid,
    attstattarget: -1,
    attlen: length,
    attnum,
    attndims: type.kind === "list" ? 1 : 0,
    attcacheoff: -1,
    atttypmod: typeModifier(type),
    attbyval: byValue,
    attalign: align,
    attstorage: storage,
    attcompression: "",
    attnotnull: !nullable && !isKey,
    atthasdef: column.default !== undefined && !isKey,
    atthasmissing: false,
    attidentity: "",
    attgenerated: "",
    attisdropped: false,
    attislocal: true,
    attinhcount: 0,
    attcollation: atttypid === 25 ? 100 : 0,
  };
}

function* attributeRows({ oid, columns, indexes }: PgRelation): Iterable<InformationRow> {
  for (const [i, column] of columns.entries()) yield attributeRow(oid, i + 1, column, false);
  for (const index of indexes) {
    for (const [i, place] of index.columns.entries()) {
      const column = columns[place - 1];
      if (column !== undefined) yield attributeRow(index.oid, i + 1, column, true);
    }
  }
}

function* defaultRows({ oid, database, name, columns }: PgRelation): Iterable<InformationRow> {
  for (const [i, column] of columns.entries()) {
    if (column.default === undefined) continue;
    yield { oid: oidOf(database, name, `default ${column.name}`), adrelid: oid, adnum: i + 1, adbin: column.default };
  }
}

function* descriptionRows({ oid, comment, columns }: PgRelation): Iterable<InformationRow> {
  const row = (objsubid: number, description: string): InformationRow => ({ objoid: oid, classoid: CLASS_OID, objsubid, description });
  if (comment !== undefined) yield row(0, comment);
  for (const [i, column] of columns.entries()) if (column.comment !== undefined) yield row(i + 1, column.comment);
}

function* tableRows({ kind, database, name, indexes }: PgRelation): Iterable<InformationRow> {
  if (kind !== "r") return;
  yield {
    schemaname: database,
    tablename: name,
    tableowner: OWNER,
    hasindexes: indexes.length > 0,
    hasrules: false,
    hastriggers: false,
    rowsecurity: false,
  };
}

function* viewRows({ view, database, name }: PgRelation): Iterable<InformationRow> {
  if (view !== undefined) yield { schemaname: database, viewname: name, viewowner: OWNER, definition: view.query };
}

function* indexListRows(relation: PgRelation): Iterable<InformationRow> {
  for (const index of relation.indexes)
    yield { schemaname: relation.database, tablename: relation.name, indexname: index.name, indexdef: indexDefinition(relation, index) };
}

/** Columns of `pg_class`. */
const CLASS_COLUMNS = `oid:oid relname relnamespace:oid reltype:oid reloftype:oid relowner:oid relam:oid relfilenode:oid
  reltablespace:oid
  relpages:i32 reltuples:f32 relallvisible:i32 reltoastrelid:oid relhasindex:b relisshared:b relpersistence relkind relnatts:i16
  relchecks:i16 relhasrules:b relhastriggers:b relhassubclass:b relrowsecurity:b relforcerowsecurity:b relispopulated:b relreplident
  relispartition:b relrewrite:oid relfrozenxid:i32 relminmxid:i32 relacl:a? reloptions:a? relpartbound?`;

const ATTRIBUTE_COLUMNS = `attrelid:oid attname atttypid:oid attstattarget:i32 attlen:i16 attnum:i16 attndims:i16 attcacheoff:i32
  atttypmod:i32 attbyval:b attalign attstorage attcompression attnotnull:b atthasdef:b atthasmissing:b attidentity attgenerated
  attisdropped:b attislocal:b attinhcount:i16 attcollation:oid attacl:a? attoptions:a? attfdwoptions:a? attmissingval:a?`;

/** The tables. @param each rows of a table, of all relations */
export function classTables(
  each: (rowsOf: (relation: PgRelation, sources: InformationSources) => Iterable<InformationRow>) => InformationTable["rows"],
): readonly InformationTable[] {
  return [
    informationTable("pg_class", 0, CLASS_COLUMNS, each(classRows)),
    informationTable("pg_attribute", 0, ATTRIBUTE_COLUMNS, each(attributeRows)),
    informationTable("pg_attrdef", 0, "oid:oid adrelid:oid adnum:i16 adbin?", each(defaultRows)),
    informationTable("pg_description", 0, "objoid:oid classoid:oid objsubid:i32 description", each(descriptionRows)),
    informationTable(
      "pg_tables",
      0,
      "schemaname tablename tableowner tablespace? hasindexes:b hasrules:b hastriggers:b rowsecurity:b",
      each(tableRows),
    ),
    informationTable("pg_views", 0, "schemaname viewname viewowner definition", each(viewRows)),
    informationTable("pg_indexes", 0, "schemaname tablename indexname tablespace? indexdef", each(indexListRows)),
  ];
}
