/**
 * `/v1/influxdb/query`: the two InfluxQL statements that clients send before they write (contract README 8).
 */
import { DbError, invalidArguments } from "../../../../base/error.ts";
import { StatusCode } from "../../../../base/status-code.ts";
import type { Session } from "../../../../db/session.ts";
import { readBody } from "../../body/body.ts";
import { sessionOf } from "../../context.ts";
import type { Exchange } from "../../exchange.ts";
import type { HttpServerOptions } from "../../options.ts";
import { decodedValueOf } from "../../query-string.ts";
import { jsonReply, type Reply } from "../../reply.ts";
import type { Handler, Route } from "../../router.ts";

/** A statement that is understood. */
type Statement = { readonly kind: "create-database"; readonly name: string } | { readonly kind: "show-databases" };

const SHOW_DATABASES = /^show\s+databases$/i;
const CREATE_DATABASE = /^create\s+database\s+(?:"((?:[^"\\]|\\.)+)"|([A-Za-z_][A-Za-z0-9_]*))$/i;
/** Statements end at a `;` outside quotes. */
const STATEMENT = /(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^;])+/g;

/** The route of this file; none when the protocol is off. */
export function influxQueryRoutes(options: HttpServerOptions): readonly Route[] {
  if (!options.influx.enabled) return [];
  const query: Handler = async (exchange) => runInfluxQuery(exchange, options);
  return [{ path: "/v1/influxdb/query", methods: { GET: query, POST: query }, errors: "plain" }];
}

/** Answers `CREATE DATABASE` and `SHOW DATABASES`; anything else is refused before any statement runs. @throws DbError InvalidArguments */
async function runInfluxQuery(exchange: Exchange, options: HttpServerOptions): Promise<Reply> {
  let text = decodedValueOf(exchange.rawQuery, "q");
  if (text === undefined && exchange.method === "POST") {
    const body = await readBody(exchange, { bytesMax: options.bodyBytesMax, decode: false });
    if (!(body instanceof Uint8Array)) return body;
    text = decodedValueOf(new TextDecoder().decode(body), "q");
  }
  if (text === undefined || text.trim() === "") throw invalidArguments('missing required parameter "q"');
  const statements = parse(text);
  const session = sessionOf(exchange);
  const results: object[] = [];
  for (const [index, statement] of statements.entries()) {
    results.push({ statement_id: index, ...(await run(statement, session, options)) });
  }
  return jsonReply(200, JSON.stringify({ results }));
}

function parse(text: string): readonly Statement[] {
  const pieces = (text.match(STATEMENT) ?? []).map((piece) => piece.trim()).filter((piece) => piece !== "");
  return pieces.map((piece) => {
    if (SHOW_DATABASES.test(piece)) return { kind: "show-databases" };
    const create = CREATE_DATABASE.exec(piece);
    const name = create?.[1]?.replace(/\\(.)/g, "$1") ?? create?.[2];
    if (name !== undefined) return { kind: "create-database", name };
    throw invalidArguments(
      `cannot run InfluxQL '${piece.slice(0, 120)}': only CREATE DATABASE <name> and SHOW DATABASES are understood; query with /v1/sql`,
    );
  });
}

async function run(statement: Statement, session: Session, options: HttpServerOptions): Promise<object> {
  const { db } = options;
  if (statement.kind === "create-database") {
    await createIfMissing(statement.name, session, options);
    return {};
  }
  db.authorize(session, "read");
  const values = db.databases().map(({ name }) => [name]);
  return { series: [{ name: "databases", columns: ["name"], values }] };
}

/** As in InfluxDB, a database that is there already is no error. */
async function createIfMissing(name: string, session: Session, options: HttpServerOptions): Promise<void> {
  try {
    await options.db.createDatabase(name, session);
  } catch (error) {
    if (!(error instanceof DbError) || error.code !== StatusCode.DatabaseAlreadyExists) throw error;
  }
}
