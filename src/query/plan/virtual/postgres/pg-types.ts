/** `pg_type`: the base types that columns and parameters may have, and their arrays. */
import { BASE_TYPES, PSEUDO_TYPES } from "../../../postgres-types.ts";
import type { InformationRow } from "../information-table.ts";
import { OWNER_OID, oidOf, PG_CATALOG_OID } from "./pg-oids.ts";

/** Types that are the usual ones of their category. */
const PREFERRED: ReadonlySet<string> = new Set(["bool", "oid", "text", "float8", "timestamptz", "interval", "inet", "varbit"]);

const COMMON: InformationRow = {
  typnamespace: PG_CATALOG_OID,
  typowner: OWNER_OID,
  typisdefined: true,
  typdelim: ",",
  typrelid: 0,
  typmodin: "-",
  typmodout: "-",
  typanalyze: "-",
  typnotnull: false,
  typbasetype: 0,
  typtypmod: -1,
  typndims: 0,
};

/** Its columns. */
export const TYPE_COLUMNS = `oid:oid typname typnamespace:oid typowner:oid typlen:i16 typbyval:b typtype typcategory typispreferred:b
  typisdefined:b
  typdelim typrelid:oid typsubscript typelem:oid typarray:oid typinput:oid typoutput:oid typreceive:oid typsend:oid typmodin typmodout
  typanalyze typalign typstorage
  typnotnull:b typbasetype:oid typtypmod:i32 typndims:i32 typcollation:oid typdefaultbin? typdefault? typacl:a?`;

/** Its rows. */
export function* typeRows(): Iterable<InformationRow> {
  for (const [oid, name, array, length, category, byValue, align] of BASE_TYPES) {
    const isText = category === "S";
    yield {
      ...COMMON,
      oid,
      typname: name,
      typlen: length,
      typbyval: byValue,
      typtype: category === "X" ? "p" : "b",
      typcategory: category,
      typispreferred: PREFERRED.has(name),
      typsubscript: category === "A" ? "array_subscript_handler" : "-",
      typelem: name === "int2vector" ? 21 : name === "oidvector" ? 26 : 0,
      typarray: array,
      ...numbersOf(inputOutput(name)),
      typalign: align,
      typstorage: length === -1 ? "x" : "p",
      typcollation: isText ? 100 : 0,
    };
    if (array === 0) continue;
    yield {
      ...COMMON,
      oid: array,
      typname: `_${name}`,
      typlen: -1,
      typbyval: false,
      typtype: "b",
      typcategory: "A",
      typispreferred: false,
      typsubscript: "array_subscript_handler",
      typelem: oid,
      typarray: 0,
      ...numbersOf(inputOutput("array")),
      typalign: align === "d" ? "d" : "i",
      typstorage: "x",
      typcollation: isText ? 100 : 0,
    };
  }
  for (const [oid, name, length] of PSEUDO_TYPES) {
    yield {
      ...COMMON,
      oid,
      typname: name,
      typlen: length,
      typbyval: length > 0,
      typtype: "p",
      typcategory: "P",
      typispreferred: false,
      typsubscript: "-",
      typelem: 0,
      typarray: 0,
      ...numbersOf(inputOutput(name)),
      typalign: "i",
      typstorage: "p",
      typcollation: 0,
    };
  }
}

/** Numbers of functions. */
const numbersOf = (functions: Readonly<Record<string, string>>): InformationRow =>
  Object.fromEntries(Object.entries(functions).map(([column, name]) => [column, oidOf("pg_catalog", "pg_proc", name)]));

/** Types whose functions have an underscore behind the name. */
const PARTED: ReadonlySet<string> = new Set(
  (
    "date time timetz timestamp timestamptz interval numeric uuid json jsonb xml cidr inet point bit varbit record cstring any anyarray " +
    "void trigger internal anyelement money macaddr array"
  ).split(" "),
);

/** Names of the functions of a type. */
export function inputOutput(name: string): Readonly<Record<"typinput" | "typoutput" | "typreceive" | "typsend", string>> {
  const stem = PARTED.has(name) ? `${name}_` : name;
  return { typinput: `${stem}in`, typoutput: `${stem}out`, typreceive: `${stem}recv`, typsend: `${stem}send` };
}
