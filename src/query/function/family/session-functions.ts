/** Functions that tell about the session and the server. */
import { POSTGRES_VERSION } from "../../postgres-settings.ts";
import { INT64, NULL, STRING } from "../../../column/data-type.ts";
import { arrowName } from "../value/arrow-type.ts";
import { alias, lenient, type ScalarFunction } from "../signature/scalar-function.ts";
import { constant, typed } from "../signature/signature.ts";

/** What `version()` answers over HTTP and gRPC. */
const VERSION = "1.3.0";

/** What it answers over PostgreSQL, whose tools read the number behind the name. */
const POSTGRES = `PostgreSQL ${POSTGRES_VERSION} GreptimeDB ${VERSION}`;

/** What it answers over MySQL: the version that the protocol's greeting tells, first. */
const MYSQL = `8.4.2-GreptimeDB-${VERSION}`;

/** What `build()` answers; a release names no branch and no commit. */
const BUILD = `branch: \ncommit: \ncommit_short: \nclean: true\nversion: ${VERSION}`;

/** Who everybody is over PostgreSQL, whose catalog has one owner, and where there is no connection. */
const OWNER = "postgres";

const database = lenient("database()", constant(STRING), (_, call) => call.environment.database, { volatility: "stable" });
const connectionId = lenient("connection_id()", constant(INT64), (_, { environment }) => environment.client?.id ?? process.pid, {
  volatility: "stable",
});
const schema = alias("current_schema", database);

/** The functions of this file. */
export const SESSION_FUNCTIONS: readonly ScalarFunction[] = [
  database,
  schema,
  alias("current_database", database),
  alias("schema", database),
  lenient(
    "version()",
    constant(STRING),
    (_, { environment: { isPostgres, isMysql } }) => (isPostgres === true ? POSTGRES : isMysql === true ? MYSQL : VERSION),
    {
      volatility: "stable",
    },
  ),
  lenient("build()", constant(STRING), () => BUILD, { volatility: "stable" }),
  connectionId,
  lenient(
    "mysql_query_attribute_string(name)",
    typed(["string"], STRING),
    ([name], { environment }) => (typeof name === "string" ? environment.attributes?.get(name) : undefined),
    { volatility: "stable" },
  ),
  ...["user", "system_user", "session_user", "current_user"].map((name) =>
    lenient(`${name}()`, constant(STRING), (_, { environment }) => environment.client?.user ?? OWNER, { volatility: "stable" }),
  ),
  lenient("timezone()", constant(STRING), (_, call) => call.environment.timeZone, { volatility: "stable" }),
  lenient("read_preference()", constant(STRING), () => "LEADER", { volatility: "stable" }),
  alias("pg_backend_pid", connectionId),
  lenient(
    "arrow_typeof(value)",
    (args) => (args.length === 1 ? { args, result: STRING } : undefined),
    (_, call) => arrowName(call.type.args[0] ?? NULL),
  ),
];
