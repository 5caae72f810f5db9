/**
 * `pg_proc`, `pg_aggregate` and `pg_operator`: the functions and operators of the engine. Types of their arguments are found by asking each
 * function which types it takes; so are the arities, within what its signature says.
 */
import {
  BOOLEAN,
  type DataType,
  DATE,
  FLOAT64,
  INT64,
  INTERVAL,
  JSON_TYPE,
  STRING,
  TIMESTAMP_NANOSECOND,
} from "../../../../column/data-type.ts";
import { AGGREGATES } from "../../../function/aggregate/registry.ts";
import { SCALAR_FUNCTIONS } from "../../../function/registry.ts";
import type { FunctionType } from "../../../function/signature/scalar-function.ts";
import { WINDOW_FUNCTION_NAMES } from "../../../function/family/window-functions.ts";
import { BASE_TYPES, PSEUDO_TYPES, typeOid } from "../../../postgres-types.ts";
import { type InformationRow, type InformationTable, informationTable, numberList } from "../information-table.ts";
import { OWNER_OID, oidOf, PG_CATALOG_OID } from "./pg-oids.ts";
import { inputOutput } from "./pg-types.ts";

/** One form of a function. */
export interface PgFunction {
  readonly oid: number;
  readonly name: string;
  /** Numbers of types. */
  readonly args: readonly number[];
  readonly result: number;
  /** Function, aggregate or window function. */
  readonly kind: "f" | "a" | "w";
  readonly isStrict: boolean;
  readonly volatility: "i" | "s" | "v";
  /** Whether the last argument stands for any number of them. */
  readonly isVariadic: boolean;
}

const DECIMAL: DataType = { kind: "decimal", precision: 38, scale: 10 };
const TEXTS: DataType = { kind: "list", element: STRING };
/** Types that all arguments of a call may have. */
const SAME: readonly DataType[] = [STRING, INT64, FLOAT64, DECIMAL, BOOLEAN, TIMESTAMP_NANOSECOND, DATE, INTERVAL, JSON_TYPE, TEXTS];
/** Types that are mixed where none alone will do. */
const MIXED: readonly DataType[] = [STRING, INT64, FLOAT64, TIMESTAMP_NANOSECOND, INTERVAL, TEXTS];
/** Most arguments whose types are mixed: each more is six times as many to try. */
const MIXED_MAX = 3;
/** Most arguments of a form. */
const ARGUMENTS_MAX = 6;

const CSTRING = 2275;
const INTERNAL = 2281;
const ANY = 2276;

/** How many arguments a signature says: `round(number[, digits])` one or two. */
function arities(signature: string): { readonly from: number; readonly to: number; readonly isVariadic: boolean } {
  const inner = signature
    .slice(signature.indexOf("(") + 1, signature.lastIndexOf(")"))
    .replace(/\[?(?:ORDER BY|SEPARATOR)[^\]]*\]?/g, "")
    .trim();
  const isVariadic = inner.includes("…");
  const count = (part: string): number => part.split(",").filter((each) => /\w/.test(each)).length;
  const required = count(inner.replace(/\[[^[\]]*(?:\[[^\]]*\])*[^\]]*\]/g, ""));
  return { from: required, to: Math.min(count(inner.replaceAll(/[[\]]/g, "")), ARGUMENTS_MAX), isVariadic };
}

type Resolve = (args: readonly DataType[]) => FunctionType | undefined;

/** The forms of a function with so many arguments: all of one type, else the first mixed ones. */
function* forms(resolve: Resolve, count: number): Iterable<FunctionType> {
  if (count === 0) {
    const found = resolve([]);
    if (found !== undefined) yield found;
    return;
  }
  let hasAny = false;
  for (const type of SAME) {
    const found = resolve(Array.from({ length: count }, () => type));
    if (found === undefined) continue;
    hasAny = true;
    yield found;
  }
  if (hasAny || count < 2 || count > MIXED_MAX) return;
  for (let at = 0; at < MIXED.length ** count; at++) {
    const types = Array.from({ length: count }, (_, i) => MIXED[Math.floor(at / MIXED.length ** i) % MIXED.length] ?? STRING);
    const found = resolve(types);
    if (found === undefined) continue;
    yield found;
    return;
  }
}

interface Described {
  readonly name: string;
  readonly signature: string;
  readonly resolve: Resolve;
}

function* formsOf(each: Described, rest: Pick<PgFunction, "kind" | "isStrict" | "volatility">): Iterable<PgFunction> {
  const { name } = each;
  const { from, to, isVariadic } = arities(each.signature);
  const seen = new Set<string>();
  for (let count = from; count <= to; count++) {
    for (const { args: types, result } of forms(each.resolve, count)) {
      const args = types.map(typeOid);
      const key = args.join(" ");
      if (seen.has(key)) continue;
      seen.add(key);
      yield { oid: procedureOid(name, args), name, args, result: typeOid(result), isVariadic, ...rest };
    }
  }
}

const procedureOid = (name: string, args: readonly number[]): number => oidOf("pg_catalog", "pg_proc", `${name}(${args.join(" ")})`);

/** The function that reads or writes the values of types. */
function inputOutputFunction(name: string): PgFunction {
  const isInput = name.endsWith("in") || name.endsWith("recv");
  const args = [isInput ? (name.endsWith("recv") ? INTERNAL : CSTRING) : ANY];
  const result = isInput ? ANY : name.endsWith("send") ? 17 : CSTRING;
  return { oid: oidOf("pg_catalog", "pg_proc", name), name, args, result, kind: "f", isStrict: true, volatility: "s", isVariadic: false };
}

const TYPE_FUNCTIONS: ReadonlySet<string> = new Set([
  ...[...BASE_TYPES, ...PSEUDO_TYPES].flatMap(([, name]) => Object.values(inputOutput(name))),
  ...Object.values(inputOutput("array")),
]);

let found: readonly PgFunction[] | undefined;

/** All forms of all functions. They are found once, when somebody asks. */
export function pgFunctions(): readonly PgFunction[] {
  found ??= [
    ...SCALAR_FUNCTIONS.flatMap((each) => [
      ...formsOf(each, { kind: "f", isStrict: each.nulls === "propagate", volatility: VOLATILITY[each.volatility] }),
    ]),
    ...AGGREGATES.flatMap((each) => [...formsOf(each, { kind: "a", isStrict: false, volatility: "i" })]),
    ...WINDOW_FUNCTION_NAMES.filter((name) => !AGGREGATES.some((each) => each.name === name)).map((name): PgFunction => {
      const args = WINDOW_ARGUMENTS[name] ?? [];
      return {
        oid: procedureOid(name, args),
        name,
        args,
        result: args[0] ?? (name === "percent_rank" || name === "cume_dist" ? 701 : 20),
        kind: "w",
        isStrict: false,
        volatility: "i",
        isVariadic: false,
      };
    }),
    ...[...TYPE_FUNCTIONS].map(inputOutputFunction),
  ];
  return found;
}

const VOLATILITY = { immutable: "i", stable: "s", volatile: "v" } as const;

const ANY_ELEMENT = 2283;
/** Arguments of functions that have OVER alone; others have none. */
const WINDOW_ARGUMENTS: Readonly<Record<string, readonly number[]>> = {
  ntile: [20],
  lag: [ANY_ELEMENT, 20],
  lead: [ANY_ELEMENT, 20],
  anomaly_score_zscore: [701],
  anomaly_score_mad: [701],
  anomaly_score_iqr: [701, 701],
};

const INTERNAL_LANGUAGE = 12;

function* procedureRows(): Iterable<InformationRow> {
  for (const { oid, name, args, result, kind, isStrict, volatility, isVariadic } of pgFunctions()) {
    yield {
      oid,
      proname: name,
      pronamespace: PG_CATALOG_OID,
      proowner: OWNER_OID,
      prolang: INTERNAL_LANGUAGE,
      procost: 1,
      prorows: 0,
      provariadic: isVariadic ? ANY : 0,
      prosupport: "-",
      prokind: kind,
      prosecdef: false,
      proleakproof: false,
      proisstrict: isStrict,
      proretset: false,
      provolatile: volatility,
      proparallel: "s",
      pronargs: args.length,
      pronargdefaults: 0,
      prorettype: result,
      proargtypes: numberList(args),
      prosrc: name,
    };
  }
}

function* aggregateRows(): Iterable<InformationRow> {
  for (const { oid, kind, result } of pgFunctions()) {
    if (kind !== "a") continue;
    yield {
      aggfnoid: oid,
      aggkind: "n",
      aggnumdirectargs: 0,
      aggtransfn: "-",
      aggfinalfn: "-",
      aggcombinefn: "-",
      aggserialfn: "-",
      aggdeserialfn: "-",
      aggmtransfn: "-",
      aggminvtransfn: "-",
      aggmfinalfn: "-",
      aggfinalextra: false,
      aggmfinalextra: false,
      aggfinalmodify: "r",
      aggmfinalmodify: "r",
      aggsortop: 0,
      aggtranstype: result,
      aggtransspace: 0,
      aggmtranstype: 0,
      aggmtransspace: 0,
    };
  }
}

/** An operator: name, numbers of the types left (0: none) and right of it and of its result, and what it does. */
export type PgOperator = readonly [name: string, left: number, right: number, result: number, meaning: string];

const BOOL = 16;
const INT8 = 20;
const TEXT = 25;
const FLOAT8 = 701;
const DATE_OID = 1082;
const TIMESTAMP_OID = 1114;
const INTERVAL_OID = 1186;
const NUMERIC = 1700;
const TEXT_ARRAY = 1009;

const COMPARED = [BOOL, 17, INT8, TEXT, FLOAT8, 1043, DATE_OID, 1083, TIMESTAMP_OID, INTERVAL_OID, NUMERIC];
const COMPARISONS: readonly (readonly [string, string])[] = [
  ["=", "equal"],
  ["<>", "not equal"],
  ["<", "less than"],
  ["<=", "less than or equal"],
  [">", "greater than"],
  [">=", "greater than or equal"],
];
const ARITHMETIC: readonly (readonly [string, string])[] = [
  ["+", "add"],
  ["-", "subtract"],
  ["*", "multiply"],
  ["/", "divide"],
  ["%", "modulus"],
];

/** All operators. */
export const PG_OPERATORS: readonly PgOperator[] = [
  ...COMPARED.flatMap((type) => COMPARISONS.map(([name, meaning]): PgOperator => [name, type, type, BOOL, meaning])),
  ...[INT8, FLOAT8, NUMERIC].flatMap((type) => ARITHMETIC.map(([name, meaning]): PgOperator => [name, type, type, type, meaning])),
  ...[INT8, FLOAT8, NUMERIC].map((type): PgOperator => ["-", 0, type, type, "negate"]),
  ["+", TIMESTAMP_OID, INTERVAL_OID, TIMESTAMP_OID, "add"],
  ["-", TIMESTAMP_OID, INTERVAL_OID, TIMESTAMP_OID, "subtract"],
  ["-", TIMESTAMP_OID, TIMESTAMP_OID, INTERVAL_OID, "subtract"],
  ["||", TEXT, TEXT, TEXT, "concatenate"],
  ["||", TEXT_ARRAY, TEXT_ARRAY, TEXT_ARRAY, "concatenate"],
  ["&", INT8, INT8, INT8, "bitwise and"],
  ["|", INT8, INT8, INT8, "bitwise or"],
  ["^", INT8, INT8, INT8, "bitwise exclusive or"],
  ["<<", INT8, INT8, INT8, "bitwise shift left"],
  [">>", INT8, INT8, INT8, "bitwise shift right"],
  ["~", 0, INT8, INT8, "bitwise not"],
  ["~", TEXT, TEXT, BOOL, "matches regular expression, case-sensitive"],
  ["~*", TEXT, TEXT, BOOL, "matches regular expression, case-insensitive"],
  ["!~", TEXT, TEXT, BOOL, "does not match regular expression, case-sensitive"],
  ["!~*", TEXT, TEXT, BOOL, "does not match regular expression, case-insensitive"],
  ["@@", TEXT, TEXT, BOOL, "has the term"],
  ["@>", TEXT_ARRAY, TEXT_ARRAY, BOOL, "contains"],
  ["<@", TEXT_ARRAY, TEXT_ARRAY, BOOL, "is contained by"],
];

/** The number of an operator. */
export const operatorOid = ([name, left, right]: PgOperator): number => oidOf("pg_catalog", "pg_operator", `${name}(${left} ${right})`);

function* operatorRows(): Iterable<InformationRow> {
  for (const operator of PG_OPERATORS) {
    const [oprname, oprleft, oprright, oprresult] = operator;
    yield {
      oid: operatorOid(operator),
      oprname,
      oprnamespace: PG_CATALOG_OID,
      oprowner: OWNER_OID,
      oprkind: oprleft === 0 ? "l" : "b",
      oprcanmerge: oprname === "=",
      oprcanhash: oprname === "=",
      oprleft,
      oprright,
      oprresult,
      oprcom: 0,
      oprnegate: 0,
      oprcode: 0,
      oprrest: 0,
      oprjoin: 0,
    };
  }
}

/** The tables. */
export const FUNCTION_RELATIONS: readonly InformationTable[] = [
  informationTable(
    "pg_proc",
    0,
    `oid:oid proname pronamespace:oid proowner:oid prolang:oid procost:f32 prorows:f32 provariadic:oid prosupport prokind prosecdef:b
    proleakproof:b proisstrict:b proretset:b provolatile proparallel pronargs:i16 pronargdefaults:i16 prorettype:oid proargtypes:oidv
    proallargtypes:ai? proargmodes:a? proargnames:a? proargdefaults? protrftypes:ai? prosrc? probin? prosqlbody? proconfig:a? proacl:a?`,
    procedureRows,
  ),
  informationTable(
    "pg_aggregate",
    0,
    `aggfnoid:oid aggkind aggnumdirectargs:i16 aggtransfn aggfinalfn aggcombinefn aggserialfn aggdeserialfn aggmtransfn aggminvtransfn
    aggmfinalfn aggfinalextra:b aggmfinalextra:b aggfinalmodify aggmfinalmodify aggsortop:oid aggtranstype:oid aggtransspace:i32
    aggmtranstype:oid aggmtransspace:i32 agginitval? aggminitval?`,
    aggregateRows,
  ),
  informationTable(
    "pg_operator",
    0,
    `oid:oid oprname oprnamespace:oid oprowner:oid oprkind oprcanmerge:b oprcanhash:b oprleft:oid oprright:oid oprresult:oid oprcom:oid
    oprnegate:oid oprcode:oid oprrest:oid oprjoin:oid`,
    operatorRows,
  ),
];
