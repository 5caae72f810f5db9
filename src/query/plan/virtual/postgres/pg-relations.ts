/** Relations of `pg_catalog` whose rows are what the catalogue holds now: databases, tables, columns, accounts, settings. */
import { POSTGRES_SETTINGS } from "../../../postgres-settings.ts";
import { CATALOG_NAME, INFORMATION_SCHEMA } from "../../../../table/reserved-names.ts";
import type { ColumnHeader } from "../../../../column/batch.ts";
import type { DataType } from "../../../../column/data-type.ts";
import { type InformationRow, type InformationSources, type InformationTable, informationTable, tablesOf } from "../information-table.ts";
import { NUMBERS } from "../numbers.ts";
import { OWNER_OID, oidOf } from "./pg-oids.ts";
import { typeOid, typeRows, typeShape } from "./pg-types.ts";

const OWNER = "postgres";

/** A table or a view as `pg_class` has it. */
interface Relation {
  readonly database: string;
  readonly name: string;
  readonly kind: "r" | "v";
  readonly columns: readonly (ColumnHeader & { readonly nullable: boolean; readonly hasDefault: boolean })[];
  readonly rows: number;
}

/** Tables of the server that are shown beside those of users. @param information those of `information_schema` */
function* relations({ catalog }: InformationSources, information: readonly InformationTable[]): Iterable<Relation> {
  for (const { name: database } of catalog.databases()) {
    for (const table of tablesOf(catalog, database)) {
      const { name, columns } = table.schema;
      const described = columns.map((column) => ({ ...column, hasDefault: column.default !== undefined }));
      yield { database, name, kind: "r", columns: described, rows: table.statistics().rowCount };
    }
    for (const view of catalog.views(database)) {
      const columns = view.columns.map((name) => ({ name, type: TEXT, nullable: true, hasDefault: false }));
      yield { database, name: view.name, kind: "v", columns, rows: 0 };
    }
    const own =
      database === "public" ? [{ name: "numbers", columns: NUMBERS.columns }] : database === INFORMATION_SCHEMA ? information : [];
    for (const { name, columns } of own) {
      const described = columns.map((column) => ({ ...column, hasDefault: false }));
      yield { database, name, kind: database === "public" ? "r" : "v", columns: described, rows: 0 };
    }
  }
}

const TEXT: DataType = { kind: "string" };

function classRow({ database, name, kind, columns, rows }: Relation): InformationRow {
  const oid = oidOf(database, name);
  return {
    oid,
    relname: name,
    relnamespace: oidOf(database),
    reltype: 0,
    reloftype: 0,
    relowner: OWNER_OID,
    relam: kind === "r" ? 2 : 0,
    relfilenode: kind === "r" ? oid : 0,
    reltablespace: 0,
    relpages: 1,
    reltuples: rows,
    relallvisible: 0,
    reltoastrelid: 0,
    relhasindex: false,
    relisshared: false,
    relpersistence: "p",
    relkind: kind,
    relnatts: columns.length,
    relchecks: 0,
    relhasrules: false,
    relhastriggers: false,
    relhassubclass: false,
    relrowsecurity: false,
    relforcerowsecurity: false,
    relispopulated: true,
    relreplident: "d",
    relispartition: false,
    relrewrite: 0,
    relfrozenxid: 0,
    relminmxid: 0,
  };
}

function* attributeRows(relation: Relation): Iterable<InformationRow> {
  const attrelid = oidOf(relation.database, relation.name);
  for (const [i, { name, type, nullable, hasDefault }] of relation.columns.entries()) {
    const atttypid = typeOid(type);
    const { length, byValue, align, storage } = typeShape(atttypid);
    yield {
      attrelid,
      attname: name,
      atttypid,
      attstattarget: -1,
      attlen: length,
      attnum: i + 1,
      attndims: 0,
      attcacheoff: -1,
      atttypmod: type.kind === "decimal" ? ((type.precision << 16) | type.scale) + 4 : -1,
      attbyval: byValue,
      attalign: align,
      attstorage: storage,
      attcompression: "",
      attnotnull: !nullable,
      atthasdef: hasDefault,
      atthasmissing: false,
      attidentity: "",
      attgenerated: "",
      attisdropped: false,
      attislocal: true,
      attinhcount: 0,
      attcollation: 0,
    };
  }
}

function* namespaceRows({ catalog }: InformationSources): Iterable<InformationRow> {
  for (const { name } of catalog.databases()) yield { oid: oidOf(name), nspname: name, nspowner: OWNER_OID };
}

const DATABASE_ROW: InformationRow = {
  datdba: OWNER_OID,
  encoding: 6,
  datlocprovider: "c",
  datcollate: "C",
  datctype: "C",
  datistemplate: false,
  datallowconn: true,
  datconnlimit: -1,
  datlastsysoid: 0,
  datfrozenxid: 0,
  datminmxid: 0,
  dattablespace: 1663,
};

const ROLE_ROW: InformationRow = {
  oid: OWNER_OID,
  rolname: OWNER,
  rolsuper: true,
  rolinherit: true,
  rolcreaterole: true,
  rolcreatedb: true,
  rolcanlogin: true,
  rolreplication: false,
  rolconnlimit: -1,
  rolpassword: "********",
  rolbypassrls: true,
};

function* settingRows(): Iterable<InformationRow> {
  for (const { name, value, description, isFixed } of POSTGRES_SETTINGS) {
    yield {
      name,
      setting: value,
      category: "Client Connection Defaults",
      short_desc: description,
      context: isFixed ? "internal" : "user",
      vartype: value === "on" || value === "off" ? "bool" : /^\d+$/.test(value) ? "integer" : "string",
      source: "default",
      boot_val: value,
      reset_val: value,
      pending_restart: false,
    };
  }
}

/** Columns of `pg_class`. */
const CLASS_COLUMNS = `oid:i32 relname relnamespace:i32 reltype:i32 reloftype:i32 relowner:i32 relam:i32 relfilenode:i32
  reltablespace:i32
  relpages:i32 reltuples:f32 relallvisible:i32 reltoastrelid:i32 relhasindex:b relisshared:b relpersistence relkind relnatts:i16
  relchecks:i16 relhasrules:b relhastriggers:b relhassubclass:b relrowsecurity:b relforcerowsecurity:b relispopulated:b relreplident
  relispartition:b relrewrite:i32 relfrozenxid:i32 relminmxid:i32 relacl:a? reloptions:a? relpartbound?`;

const ATTRIBUTE_COLUMNS = `attrelid:i32 attname atttypid:i32 attstattarget:i32 attlen:i16 attnum:i16 attndims:i16 attcacheoff:i32
  atttypmod:i32 attbyval:b attalign attstorage attcompression attnotnull:b atthasdef:b atthasmissing:b attidentity attgenerated
  attisdropped:b attislocal:b attinhcount:i16 attcollation:i32 attacl:a? attoptions:a? attfdwoptions:a? attmissingval:a?`;

const TYPE_COLUMNS = `oid:i32 typname typnamespace:i32 typowner:i32 typlen:i16 typbyval:b typtype typcategory typispreferred:b
  typisdefined:b
  typdelim typrelid:i32 typsubscript typelem:i32 typarray:i32 typinput typoutput typreceive typsend typmodin typmodout typanalyze typalign
  typstorage typnotnull:b typbasetype:i32 typtypmod:i32 typndims:i32 typcollation:i32 typdefaultbin? typdefault? typacl:a?`;

const ROLE_COLUMNS = `rolname rolsuper:b rolinherit:b rolcreaterole:b rolcreatedb:b rolcanlogin:b rolreplication:b rolconnlimit:i32
  rolpassword rolvaliduntil:ts6? rolbypassrls:b rolconfig:a? oid:i32`;

/** The tables. @param information those of `information_schema` */
export function relationTables(information: () => readonly InformationTable[]): readonly InformationTable[] {
  const all = (sources: InformationSources): Relation[] => [...relations(sources, information())];
  return [
    informationTable("pg_class", 0, CLASS_COLUMNS, (sources) => all(sources).map(classRow)),
    informationTable("pg_attribute", 0, ATTRIBUTE_COLUMNS, (sources) => all(sources).flatMap((each) => [...attributeRows(each)])),
    informationTable("pg_type", 0, TYPE_COLUMNS, typeRows),
    informationTable("pg_namespace", 0, "oid:i32 nspname nspowner:i32 nspacl:a? options?", namespaceRows),
    informationTable(
      "pg_database",
      0,
      `oid:i32 datname datdba:i32 encoding:i32 datlocprovider datcollate datctype datistemplate:b datallowconn:b datconnlimit:i32
      datlastsysoid:i32 datfrozenxid:i32 datminmxid:i32 dattablespace:i32 daticulocale? daticurules? datacl:a?`,
      () => [{ ...DATABASE_ROW, oid: oidOf(CATALOG_NAME, ""), datname: CATALOG_NAME }],
    ),
    informationTable(
      "pg_tables",
      0,
      "schemaname tablename tableowner tablespace? hasindexes:b hasrules:b hastriggers:b rowsecurity:b",
      (sources) =>
        all(sources)
          .filter(({ kind }) => kind === "r")
          .map(({ database, name }) => ({
            schemaname: database,
            tablename: name,
            tableowner: OWNER,
            hasindexes: false,
            hasrules: false,
            hastriggers: false,
            rowsecurity: false,
          })),
    ),
    informationTable("pg_roles", 0, ROLE_COLUMNS, () => [ROLE_ROW]),
    informationTable("pg_authid", 0, ROLE_COLUMNS.replace("rolconfig:a? ", ""), () => [ROLE_ROW]),
    informationTable(
      "pg_settings",
      0,
      `name setting unit? category short_desc extra_desc? context vartype source min_val? max_val? enumvals:a? boot_val reset_val
      sourcefile? sourceline:i32? pending_restart:b`,
      settingRows,
    ),
    informationTable("pg_stat_gssapi", 0, "pid:i32 gss_authenticated:b principal? encrypted:b credentials_delegated:b", () => [
      { pid: process.pid, gss_authenticated: false, encrypted: false, credentials_delegated: false },
    ]),
  ];
}
