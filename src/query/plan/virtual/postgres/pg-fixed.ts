/** Relations of `pg_catalog` whose rows never change: few, those that clients look for. */
import { type InformationTable, informationTable } from "../information-table.ts";
import { OWNER_OID, PG_CATALOG_OID } from "./pg-oids.ts";

/** The tables. */
export const FIXED_TABLES: readonly InformationTable[] = [
  informationTable("pg_am", 0, "oid:i32 amname amhandler amtype", () => [
    { oid: 2, amname: "heap", amhandler: "heap_tableam_handler", amtype: "t" },
    { oid: 403, amname: "btree", amhandler: "bthandler", amtype: "i" },
    { oid: 405, amname: "hash", amhandler: "hashhandler", amtype: "i" },
  ]),
  informationTable(
    "pg_collation",
    0,
    `oid:i32 collname collnamespace:i32 collowner:i32 collprovider collisdeterministic:b collencoding:i32 collcollate? collctype?
    colllocale? colliculocale? collicurules? collversion?`,
    () =>
      [
        [100, "default", "d"],
        [950, "C", "c"],
        [951, "POSIX", "c"],
      ].map(([oid, collname, collprovider]) => ({
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
    "oid:i32 lanname lanowner:i32 lanispl:b lanpltrusted:b lanplcallfoid:i32 laninline:i32 lanvalidator:i32 lanacl:a?",
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
  informationTable("pg_tablespace", 0, "oid:i32 spcname spcowner:i32 spcacl:a? spcoptions:a?", () => [
    { oid: 1663, spcname: "pg_default", spcowner: OWNER_OID },
    { oid: 1664, spcname: "pg_global", spcowner: OWNER_OID },
  ]),
];
