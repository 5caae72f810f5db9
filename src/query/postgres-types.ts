/** Types that clients of PostgreSQL know by number: what `pg_type` lists, and what they are called in SQL. */
import type { DataType } from "../column/data-type.ts";

/** Kinds of things that `pg_catalog` numbers: each is also the name of a type, whose values are such numbers. */
export const NUMBERED_KINDS = [
  "regclass",
  "regtype",
  "regproc",
  "regprocedure",
  "regoper",
  "regoperator",
  "regnamespace",
  "regrole",
  "regcollation",
  "regconfig",
  "regdictionary",
] as const;

/** One of them. */
export type NumberedKind = (typeof NUMBERED_KINDS)[number];

const numberedKinds: ReadonlySet<string> = new Set(NUMBERED_KINDS);

/** Whether a name is one of `NUMBERED_KINDS`. */
export function isNumberedKind(name: string): name is NumberedKind {
  return numberedKinds.has(name);
}

/** A type: number, name, number of its array type, bytes (-1: any), category, whether it is passed by value, alignment. */
export type BaseType = readonly [
  oid: number,
  name: string,
  array: number,
  length: number,
  category: string,
  byValue: boolean,
  align: string,
];

/** Types of values. */
export const BASE_TYPES: readonly BaseType[] = [
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
  [2202, "regprocedure", 2207, 4, "N", true, "i"],
  [2203, "regoper", 2208, 4, "N", true, "i"],
  [2204, "regoperator", 2209, 4, "N", true, "i"],
  [2205, "regclass", 2210, 4, "N", true, "i"],
  [2206, "regtype", 2211, 4, "N", true, "i"],
  [2950, "uuid", 2951, 16, "U", false, "c"],
  [3734, "regconfig", 3735, 4, "N", true, "i"],
  [3769, "regdictionary", 3770, 4, "N", true, "i"],
  [3802, "jsonb", 3807, -1, "U", false, "i"],
  [4089, "regnamespace", 4090, 4, "N", true, "i"],
  [4096, "regrole", 4097, 4, "N", true, "i"],
  [4191, "regcollation", 4192, 4, "N", true, "i"],
];

/** Types that no value has. */
export const PSEUDO_TYPES: readonly (readonly [oid: number, name: string, length: number])[] = [
  [2249, "record", -1],
  [2275, "cstring", -2],
  [2276, "any", 4],
  [2277, "anyarray", -1],
  [2278, "void", 4],
  [2279, "trigger", 4],
  [2281, "internal", 8],
  [2283, "anyelement", 4],
];

/** The number of a column's type, as `pg_attribute.atttypid` has it. */
export function typeOid(type: DataType): number {
  switch (type.kind) {
    case "boolean":
      return 16;
    case "int":
      if (type.oid === true) return 26;
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
    case "list":
      if (type.vector !== undefined) return type.vector === "int2vector" ? 22 : 30;
      return BASE_TYPES.find(([oid]) => oid === typeOid(type.element))?.[2] ?? 25;
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

/** Names in SQL, where they are others than those of the catalogue. */
const SQL_NAMES: Readonly<Record<string, string>> = {
  bool: "boolean",
  char: '"char"',
  int8: "bigint",
  int2: "smallint",
  int4: "integer",
  float4: "real",
  float8: "double precision",
  bpchar: "character",
  varchar: "character varying",
  time: "time without time zone",
  timestamp: "timestamp without time zone",
  timestamptz: "timestamp with time zone",
  timetz: "time with time zone",
  varbit: "bit varying",
  any: '"any"',
};

const names: ReadonlyMap<number, string> = new Map([
  ...BASE_TYPES.map(([oid, name]) => [oid, SQL_NAMES[name] ?? name] as const),
  ...BASE_TYPES.flatMap(([, name, array]) => (array === 0 ? [] : [[array, `${SQL_NAMES[name] ?? name}[]`] as const])),
  ...PSEUDO_TYPES.map(([oid, name]) => [oid, SQL_NAMES[name] ?? name] as const),
]);

/** What SQL calls a type, without its modifier: `timestamp without time zone`; undefined for a number that is no type. */
export function typeName(oid: number): string | undefined {
  return names.get(oid);
}

const catalogNames: ReadonlyMap<number, string> = new Map(
  BASE_TYPES.flatMap(([oid, name, array]) => [[oid, name] as const, ...(array === 0 ? [] : [[array, `_${name}`] as const])]),
);

/** What `pg_type` calls a type of values. */
export function catalogTypeName(oid: number): string {
  return catalogNames.get(oid) ?? "text";
}

/** What stands for some names of types in SQL, beside those of the catalogue and the full ones. */
const SHORT_NAMES: Readonly<Record<string, string>> = {
  int: "int4",
  decimal: "numeric",
  float: "float8",
  character: "bpchar",
  string: "text",
};

const numbers: ReadonlyMap<string, number> = new Map([
  ...[...names].map(([oid, name]) => [name, oid] as const),
  ...BASE_TYPES.flatMap(([oid, name, array]) => [[name, oid] as const, ...(array === 0 ? [] : [[`_${name}`, array] as const])]),
  ...PSEUDO_TYPES.map(([oid, name]) => [name, oid] as const),
]);

/** The number of a type by any of its names, lower-case, `[]` behind it for its array; undefined: there is none. */
export function typeNumber(name: string): number | undefined {
  const isArray = name.endsWith("[]");
  const element = (isArray ? name.slice(0, -2) : name).replace(/\s*\(\s*\d+(?:\s*,\s*\d+)?\s*\)/, "").trim();
  const known = SHORT_NAMES[element] ?? element;
  const oid = numbers.get(known);
  return isArray ? BASE_TYPES.find(([number]) => number === oid)?.[2] || undefined : oid;
}

/** Bytes of a length that stand before what a modifier of a text counts. */
const LENGTH_BYTES = 4;

/** The modifier of a column's type: digits of a decimal; -1: none. */
export function typeModifier(type: DataType): number {
  return type.kind === "decimal" ? ((type.precision << 16) | type.scale) + LENGTH_BYTES : -1;
}

/** A type as a column declares it: `numeric(8,2)`, `character varying(20)`; `???` for a number that is no type. */
export function declaredType(oid: number, modifier: number): string {
  const name = names.get(oid) ?? "???";
  if (modifier < 0) return name;
  const digits = modifier - LENGTH_BYTES;
  switch (oid) {
    case 1700:
      return `numeric(${digits >> 16},${digits & 0xffff})`;
    case 1042:
    case 1043:
      return `${name}(${digits})`;
    case 1083:
    case 1114:
    case 1184:
    case 1266:
      return name.replace(" ", `(${modifier}) `);
    default:
      return name;
  }
}
