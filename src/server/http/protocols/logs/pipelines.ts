/**
 * Stored pipelines over HTTP (contract ingest.md 8.2): store, show, remove, and the table that one would make. They read tables, so that
 * the main thread alone serves them. The dry run is in dry-run.ts.
 */
import { invalidArguments } from "../../../../base/error.ts";
import { BUILT_IN_PREFIX, type PipelineStore, type StoredPipeline } from "../../../../db/pipelines/pipeline-store.ts";
import { versionText } from "../../../../db/pipelines/version.ts";
import { textOf } from "../../../../ingest/ndjson/decode.ts";
import { pipelineTableText } from "../../../../db/pipelines/table-text.ts";
import { sessionOf } from "../../context.ts";
import { dryRun } from "./dry-run.ts";
import type { Exchange } from "../../exchange.ts";
import { invalidParameter, valueOf } from "../../../common/logs/pipeline-flags.ts";
import type { HttpServerOptions } from "../../options.ts";
import { emptyReply, type Reply } from "../../reply.ts";
import type { Handler, Route } from "../../router.ts";
import { writeBody } from "../accepted-write.ts";
import { managedReply } from "../managed.ts";

const UNSUPPORTED = emptyReply(415);

interface PipelineEndpoint {
  readonly options: HttpServerOptions;
  readonly store: PipelineStore;
}

/** The routes of this file and of the dry run. */
export function pipelineRoutes(options: HttpServerOptions, store: PipelineStore): readonly Route[] {
  const endpoint: PipelineEndpoint = { options, store };
  const of = (answer: (exchange: Exchange, endpoint: PipelineEndpoint) => Promise<Reply>): Handler => {
    return (exchange) => answer(exchange, endpoint);
  };
  const manage = { GET: of(show), POST: of(add), DELETE: of(remove) };
  const run: Handler = (exchange) => dryRun(exchange, options, store);
  // `dryrun` is a reserved name: one of the clients' spellings of the dry run looks like a pipeline's path.
  const dry = ["/v1/pipelines/_dryrun", "/v1/pipelines/dryrun", "/v1/events/pipelines/dryrun", "/v1/events/pipelines/_dryrun"];
  return [
    ...dry.map((path): Route => ({ path, methods: { POST: run }, errors: "plain" })),
    { path: "/v1/pipelines/{pipeline_name}/ddl", methods: { GET: of(ddl) }, errors: "plain" },
    { path: "/v1/pipelines/{pipeline_name}", methods: manage, errors: "plain" },
    { path: "/v1/events/pipelines/{pipeline_name}", methods: manage, errors: "plain" },
  ];
}

async function add(exchange: Exchange, { options, store }: PipelineEndpoint): Promise<Reply> {
  options.db.authorize(sessionOf(exchange), "write");
  const name = nameOf(exchange);
  if (name.startsWith(BUILT_IN_PREFIX)) throw invalidParameter(`pipeline_name cannot start with ${BUILT_IN_PREFIX}`);
  const type = exchange.request.headers.get("content-type")?.trim() ?? "";
  const isForm = /^multipart\/form-data\b/i.test(type);
  if (!isForm && !/yaml$/i.test(type)) return UNSUPPORTED;
  const body = await writeBody(exchange, options, true);
  if (!(body instanceof Uint8Array)) return body;
  const text = isForm ? await firstPart(body, type) : textOf(body);
  if (text.trim() === "") throw invalidParameter("pipeline is required in body");
  return listed(exchange, options, [itemOf(await store.add(name, text))]);
}

async function show(exchange: Exchange, { options, store }: PipelineEndpoint): Promise<Reply> {
  options.db.authorize(sessionOf(exchange), "read");
  const version = valueOf(exchange.rawQuery, "version");
  const stored = await store.current(nameOf(exchange), version);
  const item = { ...itemOf(stored), ...(version === undefined ? {} : { version }), pipeline: stored.text };
  return listed(exchange, options, [item]);
}

async function remove(exchange: Exchange, { options, store }: PipelineEndpoint): Promise<Reply> {
  options.db.authorize(sessionOf(exchange), "write");
  const version = valueOf(exchange.rawQuery, "version");
  if (version === undefined) throw invalidParameter("version is required");
  const name = nameOf(exchange);
  const createdAtNanos = await store.remove(name, version);
  return listed(exchange, options, createdAtNanos === undefined ? [] : [{ name, version: versionText(createdAtNanos) }]);
}

async function ddl(exchange: Exchange, { options, store }: PipelineEndpoint): Promise<Reply> {
  const { db, influx } = options;
  db.authorize(sessionOf(exchange), "read");
  const table = valueOf(exchange.rawQuery, "table");
  if (table === undefined) throw invalidParameter("table name is required");
  const name = nameOf(exchange);
  if (name.startsWith(BUILT_IN_PREFIX)) throw invalidParameter("built-in pipelines don't have fixed table schema");
  const { compiled } = await store.current(name, valueOf(exchange.rawQuery, "version"));
  const columns = compiled.columns(influx.timeColumn);
  if (columns === undefined) throw invalidParameter("auto transform doesn't have fixed table schema");
  const sql = pipelineTableText(exchange.database, table, columns);
  const [time] = columns.filter(({ semantic }) => semantic === "timestamp");
  const exists = columns.some((column) => db.schemas.columnOf(exchange.database, table, column.name) !== undefined);
  const messages: string[] = [];
  if (time !== undefined && exists) messages.push("table already exists, the CREATE TABLE SQL may be different");
  if (compiled.hasVariableTable) messages.push("the pipeline has dispatcher or table_suffix, the table name may not be fixed");
  return managedReply(exchange, options, { sql: { sql, ...(messages.length === 0 ? {} : { message: messages.join("; ") }) } });
}

function itemOf({ name, createdAtNanos }: StoredPipeline): { readonly name: string; readonly version: string } {
  return { name, version: versionText(createdAtNanos) };
}

function listed(exchange: Exchange, options: HttpServerOptions, pipelines: readonly object[]): Reply {
  return managedReply(exchange, options, { pipelines });
}

/** The name in the path, decoded. @throws DbError InvalidArguments */
function nameOf({ path }: Exchange): string {
  const segment = path.split("/")[path.startsWith("/v1/events/") ? 4 : 3] ?? "";
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    throw invalidParameter("pipeline_name is not percent-encoded UTF-8");
  }
}

/** The text of the first part of a form. @throws DbError InvalidArguments */
async function firstPart(body: Uint8Array, type: string): Promise<string> {
  for (const part of await partsOf(body, type)) return typeof part === "string" ? part : await part.text();
  throw invalidParameter("pipeline is required in body");
}

/** @throws DbError InvalidArguments */
async function partsOf(body: Uint8Array, type: string): Promise<Iterable<string | Blob>> {
  try {
    const form = await new Response(new Uint8Array(body), { headers: { "content-type": type } }).formData();
    return form.values() as Iterable<string | Blob>; // The types of two libraries meet here.
  } catch (error) {
    throw invalidArguments("Invalid request parameter: the body is no multipart form", error);
  }
}
