/** `pg_type`: the base types that columns and parameters may have, and their arrays. */
import type { DataType } from "../../../../column/data-type.ts";
import type { InformationRow } from "../information-table.ts";
import { OWNER_OID, PG_CATALOG_OID } from "./pg-oids.ts";

/** Number, name, number of the array type, bytes (-1: any), category, whether it is passed by value, alignment. */
type BaseType = readonly [oid: number, name: string, array: number, length: number, category: string, byValue: boolean, align: string];

const BASE_TYPES: readonly BaseType[] = [
  [16, "bool", 1000, 1, "B", true, "c"],
  [17, "bytea", 1001, -1, "U", false, "i"],
  [18, "char", 1002, 1, "Z", true, "c"],
  [19, "name", 1003, 64, "S", false, "c"],
  [20, "int8", 1016, 8, "N", true, "d"],
  [21, "int2", 1005, 2, "N", true, "s"],
  [22, "int2vector", 1006, -1, "A", false, "i"],
  [23, "int4", 1007, 4, "N", true, "i"],
  [24, "regproc", 1008, 4, "N", true, "i"],
  [25, "text", 1009, -1, "S", false, "i"],
  [26, "oid", 1028, 4, "N", true, "i"],
  [27, "tid", 1010, 6, "U", false, "s"],
  [28, "xid", 1011, 4, "U", true, "i"],
  [29, "cid", 1012, 4, "U", true, "i"],
  [30, "oidvector", 1013, -1, "A", false, "i"],
  [114, "json", 199, -1, "U", false, "i"],
  [142, "xml", 143, -1, "U", false, "i"],
  [600, "point", 1017, 16, "G", false, "d"],
  [650, "cidr", 651, -1, "I", false, "i"],
  [700, "float4", 1021, 4, "N", true, "i"],
  [701, "float8", 1022, 8, "N", true, "d"],
  [705, "unknown", 0, -2, "X", false, "c"],
  [790, "money", 791, 8, "N", true, "d"],
  [829, "macaddr", 1040, 6, "U", false, "i"],
  [869, "inet", 1041, -1, "I", false, "i"],
  [1033, "aclitem", 1034, 16, "U", false, "d"],
  [1042, "bpchar", 1014, -1, "S", false, "i"],
  [1043, "varchar", 1015, -1, "S", false, "i"],
  [1082, "date", 1182, 4, "D", true, "i"],
  [1083, "time", 1183, 8, "D", true, "d"],
  [1114, "timestamp", 1115, 8, "D", true, "d"],
  [1184, "timestamptz", 1185, 8, "D", true, "d"],
  [1186, "interval", 1187, 16, "T", false, "d"],
  [1266, "timetz", 1270, 12, "D", false, "d"],
  [1560, "bit", 1561, -1, "V", false, "i"],
  [1562, "varbit", 1563, -1, "V", false, "i"],
  [1700, "numeric", 1231, -1, "N", false, "i"],
  [2205, "regclass", 2210, 4, "N", true, "i"],
  [2206, "regtype", 2211, 4, "N", true, "i"],
  [2950, "uuid", 2951, 16, "U", false, "c"],
  [3802, "jsonb", 3807, -1, "U", false, "i"],
  [4089, "regnamespace", 4090, 4, "N", true, "i"],
  [4096, "regrole", 4097, 4, "N", true, "i"],
];

const PSEUDO_TYPES: readonly (readonly [oid: number, name: string, length: number])[] = [
  [2249, "record", -1],
  [2275, "cstring", -2],
  [2276, "any", 4],
  [2277, "anyarray", -1],
  [2278, "void", 4],
  [2279, "trigger", 4],
  [2281, "internal", 8],
  [2283, "anyelement", 4],
];

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
      typsubscript: "-",
      typelem: 0,
      typarray: array,
      ...inputOutput(name),
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
      typinput: "array_in",
      typoutput: "array_out",
      typreceive: "array_recv",
      typsend: "array_send",
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
      ...inputOutput(name),
      typalign: "i",
      typstorage: "p",
      typcollation: 0,
    };
  }
}

/** Types whose functions have an underscore behind the name. */
const PARTED: ReadonlySet<string> = new Set(
  (
    "date time timetz timestamp timestamptz interval numeric uuid json jsonb xml cidr inet point bit varbit record cstring any anyarray " +
    "void trigger internal anyelement money macaddr"
  ).split(" "),
);

/** Names of the functions of a type. */
function inputOutput(name: string): InformationRow {
  const stem = PARTED.has(name) ? `${name}_` : name;
  return { typinput: `${stem}in`, typoutput: `${stem}out`, typreceive: `${stem}recv`, typsend: `${stem}send` };
}

/** The number of a column's type, as `pg_attribute.atttypid` has it. */
export function typeOid(type: DataType): number {
  switch (type.kind) {
    case "boolean":
      return 16;
    case "int":
      if (type.bits === 64) return type.signed ? 20 : 1700;
      if (type.bits === 32) return type.signed ? 23 : 20;
      return type.bits === 16 && !type.signed ? 23 : 21;
    case "float":
      return type.bits === 32 ? 700 : 701;
    case "binary":
    case "vector":
      return 17;
    case "date":
      return 1082;
    case "timestamp":
      return 1114;
    case "time":
      return 1083;
    case "duration":
    case "interval":
      return 1186;
    case "decimal":
      return 1700;
    case "json":
    case "struct":
    case "map":
      return 114;
    default:
      return 25;
  }
}

/** `typlen`, `typbyval`, `typalign` and `typstorage` of a type by its number. */
export function typeShape(oid: number): {
  readonly length: number;
  readonly byValue: boolean;
  readonly align: string;
  readonly storage: string;
} {
  const [, , , length = -1, , byValue = false, align = "i"] = BASE_TYPES.find(([number]) => number === oid) ?? [];
  return { length, byValue, align, storage: length === -1 ? "x" : "p" };
}
