/**
 * The messages of OTLP as their JSON form names them: what of them is kept, by name, number and type. Source: proto/opentelemetry.
 */

/** Names of the messages. */
export type MessageName =
  | "LogsRequest"
  | "ResourceLogs"
  | "ScopeLogs"
  | "LogRecord"
  | "Resource"
  | "Scope"
  | "KeyValue"
  | "AnyValue"
  | "ArrayValue"
  | "KeyValueList"
  | "TracesRequest"
  | "ResourceSpans"
  | "ScopeSpans"
  | "Span"
  | "SpanEvent"
  | "SpanLink"
  | "Status"
  | "MetricsRequest"
  | "ResourceMetrics"
  | "ScopeMetrics"
  | "Metric"
  | "Gauge"
  | "Sum"
  | "Histogram"
  | "ExponentialHistogram"
  | "Summary"
  | "NumberPoint"
  | "HistogramPoint"
  | "ExponentialPoint"
  | "SummaryPoint"
  | "Quantile";

/** One field of a message. */
export interface Field {
  readonly number: number;
  readonly kind:
    | "message"
    | "string"
    | "bool"
    | "double"
    | "hex"
    | "base64"
    | "enum"
    | "fixed64"
    | "sfixed64"
    | "fixed32"
    | "int64"
    | "uint32";
  /** Of kind "message". */
  readonly message?: MessageName;
  /** Of kind "enum": names by number. */
  readonly names?: readonly string[];
  readonly repeated?: true;
}

/** Names of `SpanKind` by number. */
export const SPAN_KINDS: readonly string[] = ["UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"].map(
  (name) => `SPAN_KIND_${name}`,
);
/** Names of `StatusCode` by number. */
export const STATUS_CODES: readonly string[] = ["STATUS_CODE_UNSET", "STATUS_CODE_OK", "STATUS_CODE_ERROR"];
const TEMPORALITIES: readonly string[] = ["UNSPECIFIED", "DELTA", "CUMULATIVE"].map((name) => `AGGREGATION_TEMPORALITY_${name}`);
const LEVELS = ["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"];
const SEVERITIES: readonly string[] = [
  "SEVERITY_NUMBER_UNSPECIFIED",
  ...LEVELS.flatMap((level) => ["", "2", "3", "4"].map((step) => `SEVERITY_NUMBER_${level}${step}`)),
];

/** Fields of each message by their JSON name. */
export const MESSAGES: Readonly<Record<MessageName, Readonly<Record<string, Field>>>> = {
  LogsRequest: { resourceLogs: { number: 1, kind: "message", message: "ResourceLogs", repeated: true } },
  ResourceLogs: {
    resource: { number: 1, kind: "message", message: "Resource" },
    scopeLogs: { number: 2, kind: "message", message: "ScopeLogs", repeated: true },
    schemaUrl: { number: 3, kind: "string" },
  },
  ScopeLogs: {
    scope: { number: 1, kind: "message", message: "Scope" },
    logRecords: { number: 2, kind: "message", message: "LogRecord", repeated: true },
    schemaUrl: { number: 3, kind: "string" },
  },
  LogRecord: {
    timeUnixNano: { number: 1, kind: "fixed64" },
    observedTimeUnixNano: { number: 11, kind: "fixed64" },
    severityNumber: { number: 2, kind: "enum", names: SEVERITIES },
    severityText: { number: 3, kind: "string" },
    body: { number: 5, kind: "message", message: "AnyValue" },
    attributes: { number: 6, kind: "message", message: "KeyValue", repeated: true },
    flags: { number: 8, kind: "fixed32" },
    traceId: { number: 9, kind: "hex" },
    spanId: { number: 10, kind: "hex" },
    eventName: { number: 12, kind: "string" },
  },
  Resource: { attributes: { number: 1, kind: "message", message: "KeyValue", repeated: true } },
  Scope: {
    name: { number: 1, kind: "string" },
    version: { number: 2, kind: "string" },
    attributes: { number: 3, kind: "message", message: "KeyValue", repeated: true },
  },
  KeyValue: { key: { number: 1, kind: "string" }, value: { number: 2, kind: "message", message: "AnyValue" } },
  AnyValue: {
    stringValue: { number: 1, kind: "string" },
    boolValue: { number: 2, kind: "bool" },
    intValue: { number: 3, kind: "int64" },
    doubleValue: { number: 4, kind: "double" },
    arrayValue: { number: 5, kind: "message", message: "ArrayValue" },
    kvlistValue: { number: 6, kind: "message", message: "KeyValueList" },
    bytesValue: { number: 7, kind: "base64" },
  },
  ArrayValue: { values: { number: 1, kind: "message", message: "AnyValue", repeated: true } },
  KeyValueList: { values: { number: 1, kind: "message", message: "KeyValue", repeated: true } },
  TracesRequest: { resourceSpans: { number: 1, kind: "message", message: "ResourceSpans", repeated: true } },
  ResourceSpans: {
    resource: { number: 1, kind: "message", message: "Resource" },
    scopeSpans: { number: 2, kind: "message", message: "ScopeSpans", repeated: true },
    schemaUrl: { number: 3, kind: "string" },
  },
  ScopeSpans: {
    scope: { number: 1, kind: "message", message: "Scope" },
    spans: { number: 2, kind: "message", message: "Span", repeated: true },
    schemaUrl: { number: 3, kind: "string" },
  },
  Span: {
    traceId: { number: 1, kind: "hex" },
    spanId: { number: 2, kind: "hex" },
    traceState: { number: 3, kind: "string" },
    parentSpanId: { number: 4, kind: "hex" },
    flags: { number: 16, kind: "fixed32" },
    name: { number: 5, kind: "string" },
    kind: { number: 6, kind: "enum", names: SPAN_KINDS },
    startTimeUnixNano: { number: 7, kind: "fixed64" },
    endTimeUnixNano: { number: 8, kind: "fixed64" },
    attributes: { number: 9, kind: "message", message: "KeyValue", repeated: true },
    events: { number: 11, kind: "message", message: "SpanEvent", repeated: true },
    links: { number: 13, kind: "message", message: "SpanLink", repeated: true },
    status: { number: 15, kind: "message", message: "Status" },
  },
  SpanEvent: {
    timeUnixNano: { number: 1, kind: "fixed64" },
    name: { number: 2, kind: "string" },
    attributes: { number: 3, kind: "message", message: "KeyValue", repeated: true },
  },
  SpanLink: {
    traceId: { number: 1, kind: "hex" },
    spanId: { number: 2, kind: "hex" },
    traceState: { number: 3, kind: "string" },
    attributes: { number: 4, kind: "message", message: "KeyValue", repeated: true },
    flags: { number: 6, kind: "fixed32" },
  },
  Status: { message: { number: 2, kind: "string" }, code: { number: 3, kind: "enum", names: STATUS_CODES } },
  MetricsRequest: { resourceMetrics: { number: 1, kind: "message", message: "ResourceMetrics", repeated: true } },
  ResourceMetrics: {
    resource: { number: 1, kind: "message", message: "Resource" },
    scopeMetrics: { number: 2, kind: "message", message: "ScopeMetrics", repeated: true },
    schemaUrl: { number: 3, kind: "string" },
  },
  ScopeMetrics: {
    scope: { number: 1, kind: "message", message: "Scope" },
    metrics: { number: 2, kind: "message", message: "Metric", repeated: true },
    schemaUrl: { number: 3, kind: "string" },
  },
  Metric: {
    name: { number: 1, kind: "string" },
    description: { number: 2, kind: "string" },
    unit: { number: 3, kind: "string" },
    gauge: { number: 5, kind: "message", message: "Gauge" },
    sum: { number: 7, kind: "message", message: "Sum" },
    histogram: { number: 9, kind: "message", message: "Histogram" },
    exponentialHistogram: { number: 10, kind: "message", message: "ExponentialHistogram" },
    summary: { number: 11, kind: "message", message: "Summary" },
  },
  Gauge: { dataPoints: { number: 1, kind: "message", message: "NumberPoint", repeated: true } },
  Sum: {
    dataPoints: { number: 1, kind: "message", message: "NumberPoint", repeated: true },
    aggregationTemporality: { number: 2, kind: "enum", names: TEMPORALITIES },
    isMonotonic: { number: 3, kind: "bool" },
  },
  Histogram: {
    dataPoints: { number: 1, kind: "message", message: "HistogramPoint", repeated: true },
    aggregationTemporality: { number: 2, kind: "enum", names: TEMPORALITIES },
  },
  ExponentialHistogram: {
    dataPoints: { number: 1, kind: "message", message: "ExponentialPoint", repeated: true },
    aggregationTemporality: { number: 2, kind: "enum", names: TEMPORALITIES },
  },
  Summary: { dataPoints: { number: 1, kind: "message", message: "SummaryPoint", repeated: true } },
  NumberPoint: {
    attributes: { number: 7, kind: "message", message: "KeyValue", repeated: true },
    startTimeUnixNano: { number: 2, kind: "fixed64" },
    timeUnixNano: { number: 3, kind: "fixed64" },
    asDouble: { number: 4, kind: "double" },
    asInt: { number: 6, kind: "sfixed64" },
    flags: { number: 8, kind: "uint32" },
  },
  HistogramPoint: {
    attributes: { number: 9, kind: "message", message: "KeyValue", repeated: true },
    startTimeUnixNano: { number: 2, kind: "fixed64" },
    timeUnixNano: { number: 3, kind: "fixed64" },
    count: { number: 4, kind: "fixed64" },
    sum: { number: 5, kind: "double" },
    bucketCounts: { number: 6, kind: "fixed64", repeated: true },
    explicitBounds: { number: 7, kind: "double", repeated: true },
    flags: { number: 10, kind: "uint32" },
    min: { number: 11, kind: "double" },
    max: { number: 12, kind: "double" },
  },
  ExponentialPoint: {
    attributes: { number: 1, kind: "message", message: "KeyValue", repeated: true },
    timeUnixNano: { number: 3, kind: "fixed64" },
    count: { number: 4, kind: "fixed64" },
  },
  SummaryPoint: {
    attributes: { number: 7, kind: "message", message: "KeyValue", repeated: true },
    startTimeUnixNano: { number: 2, kind: "fixed64" },
    timeUnixNano: { number: 3, kind: "fixed64" },
    count: { number: 4, kind: "fixed64" },
    sum: { number: 5, kind: "double" },
    quantileValues: { number: 6, kind: "message", message: "Quantile", repeated: true },
    flags: { number: 8, kind: "uint32" },
  },
  Quantile: { quantile: { number: 1, kind: "double" }, value: { number: 2, kind: "double" } },
};
