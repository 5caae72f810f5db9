/**
 * Spans as an `ExportTraceServiceRequest` of OTLP. Source: github.com/open-telemetry/opentelemetry-proto, trace/v1/trace.proto.
 *
 *   Request       1 resource_spans ─► 1 resource { 1 attributes }  2 scope_spans ─► 1 scope { 1 name  2 version }  2 spans
 *   Span          1 trace_id  2 span_id  4 parent_span_id  5 name  6 kind  7 start  8 end  9 attributes  15 status { 2 message  3 code }
 *   KeyValue      1 key  2 value { 1 text  2 truth  3 integer  4 double }
 */
import { BinaryWriter } from "@bufbuild/protobuf/wire";

/** What an attribute holds. */
export type AttributeValue = string | number | boolean;

/** Names with their values; undefined ones are left out. */
export type Attributes = Readonly<Record<string, AttributeValue | undefined>>;

/** Numbers of OTLP's SpanKind. */
export const SpanKind = { internal: 1, server: 2, client: 3 } as const;

/** A piece of work that has ended. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  /** Undefined: it began the trace. */
  readonly parentId: string | undefined;
  readonly name: string;
  readonly kind: (typeof SpanKind)[keyof typeof SpanKind];
  readonly startNanos: bigint;
  readonly endNanos: bigint;
  readonly attributes: Attributes;
  /** Why it failed; undefined: it did not. */
  readonly failure: string | undefined;
}

/** Who sends. */
export interface TraceResource {
  readonly attributes: Attributes;
  readonly scope: { readonly name: string; readonly version: string };
}

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const STATUS_ERROR = 2;

/** The request. */
export function spansMessage(spans: readonly Span[], { attributes, scope }: TraceResource): Uint8Array<ArrayBuffer> {
  const writer = new BinaryWriter();
  writer.tag(1, BYTES).fork();
  writer.tag(1, BYTES).fork();
  writeAttributes(writer, 1, attributes);
  writer.join().tag(2, BYTES).fork();
  writer.tag(1, BYTES).fork().tag(1, BYTES).string(scope.name).tag(2, BYTES).string(scope.version).join();
  for (const span of spans) writeSpan(writer, span);
  return new Uint8Array(writer.join().join().finish());
}

function writeSpan(writer: BinaryWriter, { traceId, spanId, parentId, name, kind, startNanos, endNanos, attributes, failure }: Span): void {
  writer.tag(2, BYTES).fork();
  writer.tag(1, BYTES).bytes(Uint8Array.fromHex(traceId)).tag(2, BYTES).bytes(Uint8Array.fromHex(spanId));
  if (parentId !== undefined) writer.tag(4, BYTES).bytes(Uint8Array.fromHex(parentId));
  writer.tag(5, BYTES).string(name.toWellFormed()).tag(6, VARINT).int32(kind);
  writer.tag(7, FIXED64).fixed64(startNanos).tag(8, FIXED64).fixed64(endNanos);
  writeAttributes(writer, 9, attributes);
  if (failure !== undefined)
    writer.tag(15, BYTES).fork().tag(2, BYTES).string(failure.toWellFormed()).tag(3, VARINT).int32(STATUS_ERROR).join();
  writer.join();
}

function writeAttributes(writer: BinaryWriter, field: number, attributes: Attributes): void {
  for (const key in attributes) {
    const value = attributes[key];
    if (value === undefined) continue;
    writer.tag(field, BYTES).fork().tag(1, BYTES).string(key).tag(2, BYTES).fork();
    if (typeof value === "string") writer.tag(1, BYTES).string(value.toWellFormed());
    else if (typeof value === "boolean") writer.tag(2, VARINT).bool(value);
    else if (Number.isSafeInteger(value)) writer.tag(3, VARINT).int64(value);
    else writer.tag(4, FIXED64).double(value);
    writer.join().join();
  }
}
