/**
 * Whether a request of metrics is written the older way (contract ingest.md 4.2): one of its metrics has a table that was made so, an
 * ordinary one without the option `otlp_metric_compat`. Tables of the metric engine are never such: they hold milliseconds.
 */
import { invalidArguments } from "../../../base/error.ts";
import { field, ProtoReader, Wire } from "../../../format/proto/reader.ts";
import { METRIC_ENGINE } from "../../../table/metric.ts";
import type { SchemaLookup } from "../../../table/write-batch.ts";
import { CONTEXTS_MAX } from "../limits.ts";
import { RequestWalk } from "../scope.ts";
import { textOf } from "../text.ts";

/** Option of tables that are written the newer way. */
export const COMPAT_OPTION = "otlp_metric_compat";

const NAME = field(1, Wire.bytes);

/** Names by the name that the older way gives them. */
const known = new Map<string, string>();

/** The name of a table or a label in the older way. */
export function legacyName(name: string): string {
  let legacy = known.get(name);
  if (legacy === undefined) {
    legacy = name.toLowerCase().replaceAll(/[.-]/g, "_");
    if (known.size === CONTEXTS_MAX) known.clear();
    known.set(name, legacy);
  }
  return legacy;
}

/** Which way a request in protobuf is written, once all of it was looked at: whole, or part by part. */
export class MetricWay {
  hasLooked = false;
  private readonly database: string;
  private readonly schemas: SchemaLookup;
  private older: string | undefined;
  private newer: string | undefined;

  constructor(database: string, schemas: SchemaLookup) {
    this.database = database;
    this.schemas = schemas;
  }

  /** Whether it is the older way. */
  get isOlder(): boolean {
    return this.older !== undefined;
  }

  /**
   * Looks at the request, or at a part of it.
   *
   * @throws ProtoError when it is no request
   * @throws DbError InvalidArguments when there are metrics of both ways
   */
  look(body: Uint8Array): void {
    this.hasLooked = true;
    const { database, schemas } = this;
    if (schemas.rolesOf === undefined) return;
    const reader = new ProtoReader();
    reader.open(body);
    new RequestWalk(reader).walk({
      resource: () => undefined,
      scope: () => undefined,
      record: (start, end) => {
        const name = nameOf(reader, start, end);
        const roles = schemas.rolesOf?.(database, legacyName(name));
        if (roles === undefined) return;
        const compat = roles.options[COMPAT_OPTION] ?? "legacy";
        if (roles.engine === METRIC_ENGINE || compat !== "legacy") this.newer = name;
        else this.older = name;
      },
    });
    if (this.older === undefined || this.newer === undefined) return;
    const [older, newer] = [this.older, this.newer].map((name) => JSON.stringify(name));
    const ways = `the table of ${older} is of the older form, that of ${newer} of the newer one`;
    throw invalidArguments(`cannot write the metrics in one request: ${ways}; send them apart`);
  }
}

function nameOf(reader: ProtoReader, start: number, end: number): string {
  let name = "";
  reader.at = start;
  while (reader.at < end) {
    const tag = reader.tag(end);
    if (tag === NAME) {
      const stop = reader.lengthEnd(end);
      name = textOf(reader.bytes, reader.at, stop);
      reader.at = stop;
    } else reader.skip(tag, end);
  }
  return name;
}
