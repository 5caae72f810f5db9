/** `pg_index` and `pg_constraint`: keys of tables, time indexes and indexes of columns (`pg-relations.ts` says which there are). */
import { typeOid } from "../../../postgres-types.ts";
import { type InformationRow, type InformationTable, informationTable, numberList } from "../information-table.ts";
import { databaseOid, oidOf } from "./pg-oids.ts";
import type { PgRelation, RelationIndex } from "./pg-relations.ts";
import { quoteIdentifier } from "../../../function/text/identifier.ts";

const INDEX_COLUMNS = `indexrelid:oid indrelid:oid indnatts:i16 indnkeyatts:i16 indisunique:b indnullsnotdistinct:b indisprimary:b
  indisexclusion:b indimmediate:b indisclustered:b indisvalid:b indcheckxmin:b indisready:b indislive:b indisreplident:b indkey:i2v
  indcollation:oidv indclass:oidv indoption:i2v indexprs? indpred?`;

const CONSTRAINT_COLUMNS = `oid:oid conname connamespace:oid contype condeferrable:b condeferred:b convalidated:b conrelid:oid contypid:oid
  conindid:oid conparentid:oid confrelid:oid confupdtype confdeltype confmatchtype conislocal:b coninhcount:i16 connoinherit:b
  conkey:ai? confkey:ai? conpfeqop:ai? conppeqop:ai? conffeqop:ai? confdelsetcols:ai? conexclop:ai? conbin?`;

/** The number of the class of operators that an index has for a type: equal types have equal ones. */
export const operatorClass = (type: number): number => oidOf("pg_catalog", "pg_opclass", String(type));

function* indexRows({ oid, columns, indexes }: PgRelation): Iterable<InformationRow> {
  for (const index of indexes) {
    const types = index.columns.map((place) => typeOid(columns[place - 1]?.type ?? { kind: "string" }));
    yield {
      indexrelid: index.oid,
      indrelid: oid,
      indnatts: types.length,
      indnkeyatts: types.length,
      indisunique: index.isUnique,
      indnullsnotdistinct: index.isUnique,
      indisprimary: index.isPrimary,
      indisexclusion: false,
      indimmediate: true,
      indisclustered: false,
      indisvalid: true,
      indcheckxmin: false,
      indisready: true,
      indislive: true,
      indisreplident: false,
      indkey: numberList(index.columns),
      indcollation: numberList(types.map((type) => (type === 25 ? 100 : 0))),
      indclass: numberList(types.map(operatorClass)),
      indoption: numberList(types.map(() => 0)),
    };
  }
}

/** The number of the constraint that a key of a table is. */
const constraintOid = ({ database, name }: PgRelation, index: RelationIndex): number => oidOf(database, name, `constraint ${index.name}`);

function* constraintRows(relation: PgRelation): Iterable<InformationRow> {
  for (const index of relation.indexes) {
    if (!index.isPrimary) continue;
    yield {
      oid: constraintOid(relation, index),
      conname: index.name,
      connamespace: databaseOid(relation.database),
      contype: "p",
      condeferrable: false,
      condeferred: false,
      convalidated: true,
      conrelid: relation.oid,
      contypid: 0,
      conindid: index.oid,
      conparentid: 0,
      confrelid: 0,
      confupdtype: " ",
      confdeltype: " ",
      confmatchtype: " ",
      conislocal: true,
      coninhcount: 0,
      connoinherit: true,
      conkey: numberList(index.columns),
    };
  }
}

const namesOf = ({ columns }: PgRelation, index: RelationIndex): string[] =>
  index.columns.map((place) => quoteIdentifier(columns[place - 1]?.name ?? ""));

/** The statement that makes an index, as PostgreSQL prints it. */
export function indexDefinition(relation: PgRelation, index: RelationIndex): string {
  const { database, name } = relation;
  const unique = index.isUnique ? "UNIQUE " : "";
  const table = `${quoteIdentifier(database)}.${quoteIdentifier(name)}`;
  const columns = namesOf(relation, index).join(", ");
  return `CREATE ${unique}INDEX ${quoteIdentifier(index.name)} ON ${table} USING ${index.method} (${columns})`;
}

/** The definition of each index by its number, and its columns. */
export function* indexTexts(relation: PgRelation): Iterable<readonly [oid: number, text: string, columns: readonly string[]]> {
  for (const index of relation.indexes) yield [index.oid, indexDefinition(relation, index), namesOf(relation, index)];
}

/** The definition of each constraint by its number. */
export function* constraintTexts(relation: PgRelation): Iterable<readonly [oid: number, text: string]> {
  for (const index of relation.indexes)
    if (index.isPrimary) yield [constraintOid(relation, index), `PRIMARY KEY (${namesOf(relation, index).join(", ")})`];
}

/** The tables. @param each rows of a table, of all relations */
export function keyRelations(
  each: (rowsOf: (relation: PgRelation) => Iterable<InformationRow>) => InformationTable["rows"],
): readonly InformationTable[] {
  return [
    informationTable("pg_index", 0, INDEX_COLUMNS, each(indexRows)),
    informationTable("pg_constraint", 0, CONSTRAINT_COLUMNS, each(constraintRows)),
  ];
}
