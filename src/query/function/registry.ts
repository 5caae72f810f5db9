/** Looks up scalar functions by name. */
import { BUCKET_FUNCTIONS } from "./family/bucket-functions.ts";
import { CALENDAR_FUNCTIONS } from "./family/calendar-functions.ts";
import { CONDITIONAL_FUNCTIONS } from "./family/conditional-functions.ts";
import { DATE_DIFFERENCE_FUNCTIONS } from "./family/date-difference-functions.ts";
import { GEO_FUNCTIONS } from "./family/geo-functions.ts";
import { GEO_LIST_FUNCTIONS } from "./family/geo-list-functions.ts";
import { HASH_FUNCTIONS } from "./family/hash-functions.ts";
import { IP_FUNCTIONS } from "./family/ip-functions.ts";
import { JSON_BUILDING_FUNCTIONS } from "./family/json-building-functions.ts";
import { JSON_FUNCTIONS } from "./family/json-functions.ts";
import { MATH_FUNCTIONS } from "./family/math-functions.ts";
import { MYSQL_FUNCTIONS } from "./family/mysql-functions.ts";
import { MYSQL_TIME_FUNCTIONS } from "./family/mysql-time-functions.ts";
import { LIST_FUNCTIONS } from "./nested/list-functions.ts";
import { LIST_SEARCH_FUNCTIONS } from "./nested/list-search-functions.ts";
import { LIST_TEXT_FUNCTIONS } from "./nested/list-text-functions.ts";
import { MAP_FUNCTIONS } from "./nested/map-functions.ts";
import { MEMBER_FUNCTIONS } from "./nested/member-functions.ts";
import { ROW_FUNCTIONS } from "./nested/row-functions.ts";
import { SERIES_FUNCTIONS } from "./nested/series-functions.ts";
import { POSTGRES_CATALOG_FUNCTIONS } from "./family/postgres-catalog-functions.ts";
import { POSTGRES_FUNCTIONS } from "./family/postgres-functions.ts";
import { REGEX_FUNCTIONS } from "./family/regex-functions.ts";
import type { ScalarFunction } from "./signature/scalar-function.ts";
import { SESSION_FUNCTIONS } from "./family/session-functions.ts";
import { SKETCH_FUNCTIONS } from "./family/sketch-functions.ts";
import { STRING_FUNCTIONS } from "./family/string-functions.ts";
import { TIME_FUNCTIONS } from "./family/time-functions.ts";
import { VECTOR_FUNCTIONS } from "./family/vector-functions.ts";
import { ZONE_FUNCTIONS } from "./family/zone-functions.ts";

/** Functions that are about one thing. */
export interface FunctionFamily {
  readonly about: string;
  readonly functions: readonly ScalarFunction[];
}

const FAMILIES: readonly FunctionFamily[] = [
  { about: "Numbers", functions: MATH_FUNCTIONS },
  { about: "Texts", functions: [...STRING_FUNCTIONS, ...MYSQL_FUNCTIONS] },
  { about: "Regular expressions", functions: REGEX_FUNCTIONS },
  { about: "Hashes and encodings", functions: HASH_FUNCTIONS },
  { about: "Addresses", functions: IP_FUNCTIONS },
  { about: "Conditions", functions: CONDITIONAL_FUNCTIONS },
  { about: "Times", functions: [...TIME_FUNCTIONS, ...BUCKET_FUNCTIONS, ...CALENDAR_FUNCTIONS, ...MYSQL_TIME_FUNCTIONS] },
  { about: "Differences of times, and zones", functions: [...DATE_DIFFERENCE_FUNCTIONS, ...ZONE_FUNCTIONS] },
  { about: "The session", functions: SESSION_FUNCTIONS },
  { about: "JSON", functions: [...JSON_FUNCTIONS, ...JSON_BUILDING_FUNCTIONS] },
  { about: "Lists", functions: [...LIST_FUNCTIONS, ...LIST_SEARCH_FUNCTIONS, ...LIST_TEXT_FUNCTIONS, ...SERIES_FUNCTIONS] },
  { about: "Structs and maps", functions: [...ROW_FUNCTIONS, ...MAP_FUNCTIONS] },
  { about: "Vectors", functions: VECTOR_FUNCTIONS },
  { about: "Sketches", functions: SKETCH_FUNCTIONS },
  { about: "Places", functions: [...GEO_FUNCTIONS, ...GEO_LIST_FUNCTIONS] },
  { about: "What PostgreSQL's clients look up", functions: [...POSTGRES_FUNCTIONS, ...POSTGRES_CATALOG_FUNCTIONS] },
];
const ALL: readonly ScalarFunction[] = FAMILIES.flatMap(({ functions }) => functions);
const BY_NAME: ReadonlyMap<string, ScalarFunction> = new Map([...ALL, ...MEMBER_FUNCTIONS].map((entry) => [entry.name, entry]));
const MEMBERS: ReadonlySet<string> = new Set(MEMBER_FUNCTIONS.map(({ name }) => name));
/** Names ending in `_op` stand for operators and cannot be called by name. */
const isInternal = (name: string): boolean => name.endsWith("_op") || name === "negate" || name === "date_part_epoch" || MEMBERS.has(name);

/** The function that a call names (lower-case), or undefined. */
export function functionNamed(name: string): ScalarFunction | undefined {
  return isInternal(name) ? undefined : BY_NAME.get(name);
}

/** The function of a name, also of one that stands behind an operator. */
export function anyFunctionNamed(name: string): ScalarFunction | undefined {
  return BY_NAME.get(name);
}

/** A function behind an operator. */
export function operatorFunction(name: string): ScalarFunction {
  const found = BY_NAME.get(name);
  if (found === undefined) throw new Error(`no operator function ${name}`);
  return found;
}

/** The functions that clients can call. */
export const SCALAR_FUNCTIONS: readonly ScalarFunction[] = ALL.filter(({ name }) => !isInternal(name));

/** The same by what they are about. */
export const FUNCTION_FAMILIES: readonly FunctionFamily[] = FAMILIES.map(({ about, functions }) => ({
  about,
  functions: functions.filter(({ name }) => !isInternal(name)),
}));

/** Names that clients can call. */
export function functionNames(): readonly string[] {
  return SCALAR_FUNCTIONS.map(({ name }) => name);
}
