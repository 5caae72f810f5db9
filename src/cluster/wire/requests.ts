/** The bytes of requests (`FORMAT.md`). */
import { assert } from "../../base/assert.ts";
import { ByteReader } from "../../base/bytes/byte-reader.ts";
import { DbError, invalidArguments, restated } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { timeRange } from "../../query/operator/node-parts/time-shapes.ts";
import { NO_TABLES, type PlanReader, readBytes } from "../../query/plan-format/plan-reader.ts";
import { PlanWriter } from "../../query/plan-format/plan-writer.ts";
import { bigint, bool, type Cases, float, kinds, list, optional, record, type Shape, whole } from "../../query/plan-format/shape.ts";
import { WIRE_VERSION } from "./frames.ts";
import { SHARDS_IN_REQUEST_MAX } from "./limits.ts";
import { bytes, environment, tableId, tagValues } from "./shapes.ts";
import type { FragmentsRequest, ShardAnswers, ShardCall } from "./shard-request.ts";
import { ANSWERS } from "./shapes.ts";

const REQUEST_MAGIC = 0x5156; // 'V' 'Q'
const HEAD_BYTES = 4;

const shard = whole(0, 65_535);
const least = whole(0);
const moment = { catalogVersion: whole(0), least };

const fragmentsRequest: Shape<FragmentsRequest> = record<FragmentsRequest>({
  catalogVersion: moment.catalogVersion,
  shards: list(record<FragmentsRequest["shards"][number]>({ shard, least })),
  tableId,
  plan: bytes,
  environment,
  memoryBytesMax: float,
  wantsMetrics: bool,
  wantsRuns: bool,
});

const ofAll = { ...moment, shard };

const CASES: Cases<ShardCall> = {
  flush: { ...ofAll, tableId },
  compact: { ...ofAll, tableId, timeRange: optional(timeRange) },
  "build-indexes": { ...ofAll, tableId },
  truncate: { ...ofAll, tableId, ranges: optional(list(timeRange)) },
  delete: { ...ofAll, tableId, plan: bytes, environment },
  "delete-keys": { ...ofAll, tableId, tags: list(tagValues), times: list(bigint) },
  facts: { ...ofAll, tableId: optional(tableId) },
  files: { ...ofAll, tableId },
};

const shardCall: Shape<ShardCall> = kinds<ShardCall>(CASES);

/** The request of a fragment over some shards. @throws DbError Unsupported when it is too large */
export function encodeFragments(request: FragmentsRequest): Uint8Array<ArrayBuffer> {
  const { length } = request.shards;
  assert(length > 0 && length <= SHARDS_IN_REQUEST_MAX, `1 to ${SHARDS_IN_REQUEST_MAX} shards; got ${length}`);
  return encoded(fragmentsRequest, request);
}

/** The request again. @throws DbError InvalidArguments for other bytes, Unsupported for a newer version */
export function decodeFragments(given: Uint8Array): FragmentsRequest {
  const request = decoded(fragmentsRequest, given);
  const { shards, memoryBytesMax } = request;
  if (shards.length === 0) throw wrong("it is of no shard");
  if (shards.length > SHARDS_IN_REQUEST_MAX)
    throw wrong(`it is of ${shards.length} shards, and at most ${SHARDS_IN_REQUEST_MAX} are taken`);
  if (!(memoryBytesMax > 0)) throw wrong("it may hold no memory");
  return request;
}

/** A call's request. @throws DbError Unsupported when it is too large */
export function encodeCall(call: ShardCall): Uint8Array<ArrayBuffer> {
  return encoded(shardCall, call);
}

/** The call again. @throws DbError InvalidArguments for other bytes, Unsupported for a newer version */
export function decodeCall(given: Uint8Array): ShardCall {
  const call = decoded(shardCall, given);
  if (call.kind === "delete-keys" && call.tags.some(({ length }) => length !== call.times.length)) {
    throw wrong("its keys have not as many tags as times");
  }
  return call;
}

/** An answer to a call. @throws DbError Unsupported when it is too large */
export function encodeAnswer<K extends ShardCall["kind"]>(kind: K, answer: ShardAnswers[K]): Uint8Array<ArrayBuffer> {
  return valueBytes(ANSWERS[kind] as Shape<ShardAnswers[K]>, answer); // It is the one of this kind.
}

/** The answer again. @throws DbError InvalidArguments */
export function decodeAnswer<K extends ShardCall["kind"]>(kind: K, given: Uint8Array): ShardAnswers[K] {
  return readValue(ANSWERS[kind] as Shape<ShardAnswers[K]>, given, "an answer"); // It is the one of this kind.
}

/** A value as bytes. @throws DbError Unsupported when it is too large */
export function valueBytes<T>(shape: Shape<T>, value: T): Uint8Array<ArrayBuffer> {
  const to = new PlanWriter();
  shape.write(value, to);
  return to.finish();
}

/** The value again. @throws DbError InvalidArguments, Unsupported for a newer version */
export function readValue<T>(shape: Shape<T>, given: Uint8Array, what: string): T {
  try {
    return readBytes(given, NO_TABLES, (from: PlanReader) => shape.read(from));
  } catch (error) {
    if (!(error instanceof DbError)) throw error;
    throw restated(error, `cannot read ${what}: ${error.message}`);
  }
}

function encoded<T>(shape: Shape<T>, value: T): Uint8Array<ArrayBuffer> {
  const body = valueBytes(shape, value);
  const request = new Uint8Array(HEAD_BYTES + body.length);
  const head = new DataView(request.buffer);
  head.setUint16(0, REQUEST_MAGIC, true);
  head.setUint16(2, WIRE_VERSION, true);
  request.set(body, HEAD_BYTES);
  return request;
}

function decoded<T>(shape: Shape<T>, given: Uint8Array): T {
  if (given.length < HEAD_BYTES) throw wrong(`it ends within its first bytes; it has ${given.length}`);
  const head = new ByteReader(given);
  if (head.u16() !== REQUEST_MAGIC) throw wrong("it does not begin as one does");
  const version = head.u16();
  if (version > WIRE_VERSION || version < 1) {
    const why = `it is of version ${version}, and this node reads versions 1 to ${WIRE_VERSION}`;
    throw new DbError(StatusCode.Unsupported, `cannot read the request of a frontend: ${why}; update this node`);
  }
  return readValue(shape, given.subarray(HEAD_BYTES), "the request of a frontend");
}

function wrong(why: string): DbError {
  return invalidArguments(`cannot read the request of a frontend: ${why}`);
}
