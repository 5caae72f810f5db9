/** Functions that tell about the session and the server. */
import { INT64, NULL, STRING } from "../../../column/data-type.ts";
import { arrowName } from "../value/arrow-type.ts";
import { alias, lenient, type ScalarFunction } from "../signature/scalar-function.ts";
import { constant } from "../signature/signature.ts";

/** What `version()` answers over HTTP and gRPC. */
const VERSION = "1.3.0";

/** What `build()` answers; a release names no branch and no commit. */
const BUILD = `branch: \ncommit: \ncommit_short: \nclean: true\nversion: ${VERSION}`;

const database = lenient("database()", constant(STRING), (_, call) => call.environment.database, { volatility: "stable" });
const schema = alias("current_schema", database);

/** The functions of this file. */
export const SESSION_FUNCTIONS: readonly ScalarFunction[] = [
  database,
  schema,
  alias("current_database", database),
  lenient("version()", constant(STRING), () => VERSION, { volatility: "stable" }),
  lenient("build()", constant(STRING), () => BUILD, { volatility: "stable" }),
  lenient("connection_id()", constant(INT64), () => process.pid, { volatility: "stable" }),
  lenient("timezone()", constant(STRING), (_, call) => call.environment.timeZone, { volatility: "stable" }),
  lenient("read_preference()", constant(STRING), () => "LEADER", { volatility: "stable" }),
  lenient("pg_backend_pid()", constant(INT64), () => process.pid, { volatility: "stable" }),
  lenient(
    "arrow_typeof(value)",
    (args) => (args.length === 1 ? { args, result: STRING } : undefined),
    (_, call) => arrowName(call.type.args[0] ?? NULL),
  ),
];
