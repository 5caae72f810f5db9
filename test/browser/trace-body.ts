/** Three traces of four spans as an OTLP request. */
import { create, toBinary } from "@bufbuild/protobuf";
import { ExportTraceServiceRequestSchema } from "../../proto/gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";

/** @param nowMs when the newest ended @param text an attribute of each span */
export function traceBody(nowMs: number, text: string): Uint8Array<ArrayBuffer> {
  const id = (length: number, number: number): Uint8Array<ArrayBuffer> => {
    const bytes = new Uint8Array(length);
    new DataView(bytes.buffer).setUint32(length - 4, number);
    return bytes;
  };
  const shape = [
    [1, 0, "GET /cart", 0, 120],
    [2, 1, "select items", 10, 40],
    [3, 1, "price", 55, 50],
    [4, 3, "cache get", 60, 10],
  ] as const;
  const spans = [1, 2, 3].flatMap((trace) =>
    shape.map(([span, parent, name, begin, took]) => ({
      traceId: id(16, trace),
      spanId: id(8, trace * 100 + span),
      parentSpanId: parent === 0 ? new Uint8Array(0) : id(8, trace * 100 + parent),
      name,
      startTimeUnixNano: BigInt(nowMs - trace * 60_000 + begin) * 1_000_000n,
      endTimeUnixNano: BigInt(nowMs - trace * 60_000 + begin + took) * 1_000_000n,
      attributes: [{ key: "note", value: { value: { case: "stringValue" as const, value: text } } }],
    })),
  );
  const resource = { attributes: [{ key: "service.name", value: { value: { case: "stringValue" as const, value: "shop" } } }] };
  return toBinary(
    ExportTraceServiceRequestSchema,
    create(ExportTraceServiceRequestSchema, { resourceSpans: [{ resource, scopeSpans: [{ spans }] }] }),
  );
}
