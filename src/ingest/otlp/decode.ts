/**
 * The decoders of OTLP's three signals: bodies in protobuf to a `WriteBatch`. A body in JSON is turned into protobuf first (json.ts).
 */
export { LogDecoder } from "./logs/decode.ts";
export { MetricDecoder } from "./metrics/decode.ts";
export { TraceDecoder, type TraceModel } from "./traces/decode.ts";
