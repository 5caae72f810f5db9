/** Relations of `pg_catalog` about the server: databases, schemas, accounts, settings, sessions. */
import { POSTGRES_SETTINGS } from "../../../postgres-settings.ts";
import { CATALOG_NAME } from "../../../../table/reserved-names.ts";
import { type InformationRow, type InformationSources, type InformationTable, informationTable } from "../information-table.ts";
import { databaseOid, OWNER_OID, oidOf, PG_CATALOG, PG_CATALOG_OID } from "./pg-oids.ts";

/** Who owns everything. */
export const OWNER = "postgres";

function* namespaceRows({ catalog }: InformationSources): Iterable<InformationRow> {
  yield { oid: PG_CATALOG_OID, nspname: PG_CATALOG, nspowner: OWNER_OID };
  for (const { name } of catalog.databases()) yield { oid: databaseOid(name), nspname: name, nspowner: OWNER_OID };
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
  rolreplication: true,
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

const ROLE_COLUMNS = `rolname rolsuper:b rolinherit:b rolcreaterole:b rolcreatedb:b rolcanlogin:b rolreplication:b rolconnlimit:i32
  rolpassword rolvaliduntil:ts6? rolbypassrls:b rolconfig:a? oid:oid`;

/** The tables. */
export const SERVER_RELATIONS: readonly InformationTable[] = [
  informationTable("pg_namespace", 0, "oid:oid nspname nspowner:oid nspacl:a? options?", namespaceRows),
  informationTable(
    "pg_database",
    0,
    `oid:oid datname datdba:oid encoding:i32 datlocprovider datcollate datctype datistemplate:b datallowconn:b datconnlimit:i32
    datlastsysoid:i32 datfrozenxid:i32 datminmxid:i32 dattablespace:oid daticulocale? daticurules? datacl:a?`,
    () => [{ ...DATABASE_ROW, oid: oidOf(CATALOG_NAME, ""), datname: CATALOG_NAME }],
  ),
  informationTable("pg_roles", 0, ROLE_COLUMNS, () => [ROLE_ROW]),
  informationTable("pg_authid", 0, ROLE_COLUMNS.replace("rolconfig:a? ", ""), () => [ROLE_ROW]),
  informationTable(
    "pg_user",
    0,
    "usename usesysid:oid usecreatedb:b usesuper:b userepl:b usebypassrls:b passwd? valuntil:ts6? useconfig:a?",
    () => [
      { usename: OWNER, usesysid: OWNER_OID, usecreatedb: true, usesuper: true, userepl: true, usebypassrls: true, passwd: "********" },
    ],
  ),
  informationTable(
    "pg_settings",
    0,
    `name setting unit? category short_desc extra_desc? context vartype source min_val? max_val? enumvals:a? boot_val reset_val
    sourcefile? sourceline:i32? pending_restart:b`,
    settingRows,
  ),
  informationTable(
    "pg_stat_gssapi",
    0,
    "pid:i32 gss_authenticated:b principal? encrypted:b credentials_delegated:b",
    ({ connectionId }) => [{ pid: connectionId ?? process.pid, gss_authenticated: false, encrypted: false, credentials_delegated: false }],
  ),
];
