/** Relations of `pg_catalog` whose rows never change: few, those that clients look for. */
import { type InformationTable, informationTable } from "../information-table.ts";
import { BASE_TYPES } from "../../../postgres-types.ts";
import { operatorClass } from "./pg-keys.ts";
import { OWNER_OID, oidOf, PG_CATALOG_OID } from "./pg-oids.ts";

/** Number, name and provider of each collation. */
export const COLLATIONS: readonly (readonly [oid: number, name: string, provider: string])[] = [
  [100, "default", "d"],
  [950, "C", "c"],
  [951, "POSIX", "c"],
];

const BTREE = 403;

const INDEXED: ReadonlySet<string> = new Set(
  "bool bytea int8 int2 int4 text oid float4 float8 varchar date time timestamp interval numeric".split(" "),
);
/** Types that keys have, by which rows are found. */
const INDEXED_TYPES = BASE_TYPES.filter(([, name]) => INDEXED.has(name));
const operatorFamily = (type: number): number => oidOf("pg_catalog", "pg_opfamily", String(type));

/** The tables. */
export const FIXED_TABLES: readonly InformationTable[] = [
  informationTable("pg_am", 0, "oid:oid amname amhandler:oid amtype", () => [
    { oid: 2, amname: "heap", amhandler: 0, amtype: "t" },
    { oid: 403, amname: "btree", amhandler: 0, amtype: "i" },
    { oid: 405, amname: "hash", amhandler: 0, amtype: "i" },
    { oid: 9001, amname: "inverted", amhandler: 0, amtype: "i" },
    { oid: 9002, amname: "skipping", amhandler: 0, amtype: "i" },
    { oid: 9003, amname: "fulltext", amhandler: 0, amtype: "i" },
  ]),
  informationTable(
    "pg_collation",
    0,
    `oid:oid collname collnamespace:oid collowner:oid collprovider collisdeterministic:b collencoding:i32 collcollate? collctype?
    colllocale? colliculocale? collicurules? collversion?`,
    () =>
      COLLATIONS.map(([oid, collname, collprovider]) => ({
        oid,
        collname,
        collnamespace: PG_CATALOG_OID,
        collowner: OWNER_OID,
        collprovider,
        collisdeterministic: true,
        collencoding: -1,
      })),
  ),
  informationTable(
    "pg_language",
    0,
    "oid:oid lanname lanowner:oid lanispl:b lanpltrusted:b lanplcallfoid:oid laninline:oid lanvalidator:oid lanacl:a?",
    () =>
      [
        [12, "internal"],
        [13, "c"],
        [14, "sql"],
      ].map(([oid, lanname]) => ({
        oid,
        lanname,
        lanowner: OWNER_OID,
        lanispl: false,
        lanpltrusted: lanname === "sql",
        lanplcallfoid: 0,
        laninline: 0,
        lanvalidator: 0,
      })),
  ),
  informationTable(
    "pg_opclass",
    0,
    "oid:oid opcmethod:oid opcname opcnamespace:oid opcowner:oid opcfamily:oid opcintype:oid opcdefault:b opckeytype:oid",
    () =>
      INDEXED_TYPES.map(([oid, name]) => ({
        oid: operatorClass(oid),
        opcmethod: BTREE,
        opcname: `${name}_ops`,
        opcnamespace: PG_CATALOG_OID,
        opcowner: OWNER_OID,
        opcfamily: operatorFamily(oid),
        opcintype: oid,
        opcdefault: true,
        opckeytype: 0,
      })),
  ),
  informationTable("pg_opfamily", 0, "oid:oid opfmethod:oid opfname opfnamespace:oid opfowner:oid", () =>
    INDEXED_TYPES.map(([oid, name]) => ({
      oid: operatorFamily(oid),
      opfmethod: BTREE,
      opfname: `${name}_ops`,
      opfnamespace: PG_CATALOG_OID,
      opfowner: OWNER_OID,
    })),
  ),
  informationTable("pg_tablespace", 0, "oid:oid spcname spcowner:oid spcacl:a? spcoptions:a?", () => [
    { oid: 1663, spcname: "pg_default", spcowner: OWNER_OID },
    { oid: 1664, spcname: "pg_global", spcowner: OWNER_OID },
  ]),
];
