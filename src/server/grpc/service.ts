/**
 * What a file of a service exports: its descriptor and its methods, which get a `Call` beside their messages and throw `DbError`s.
 *
 *   grpcService(HealthCheck, { healthCheck: (request, call) => ({}) })
 *   grpcService(TraceService, { export: raw((bytes, call) => …) })     its messages as bytes, undecoded (raw-message.ts)
 */
import type {
  DescMessage,
  DescMethod,
  DescMethodBiDiStreaming,
  DescMethodClientStreaming,
  DescMethodServerStreaming,
  DescMethodUnary,
  DescService,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import type { Call } from "./call.ts";

/** A method over messages of types `In` and `Out`. */
type Work<M extends DescMethod, In, Out> = M extends DescMethodUnary
  ? (request: In, call: Call) => Promise<Out> | Out
  : M extends DescMethodServerStreaming
    ? (request: In, call: Call) => AsyncIterable<Out>
    : M extends DescMethodClientStreaming
      ? (requests: AsyncIterable<In>, call: Call) => Promise<Out>
      : M extends DescMethodBiDiStreaming
        ? (requests: AsyncIterable<In>, call: Call) => AsyncIterable<Out>
        : never;

/** A method whose messages in are bytes. */
export interface RawMethod<W> {
  readonly raw: W;
}

type InOf<M extends DescMethod> = M extends { readonly input: infer I extends DescMessage } ? MessageShape<I> : never;
type OutOf<M extends DescMethod> = M extends { readonly output: infer O extends DescMessage } ? MessageInitShape<O> : never;

/** The methods of a service; those that are left out answer UNIMPLEMENTED. */
export type MethodsOf<D extends DescService> = {
  readonly [P in keyof D["method"]]?:
    | Work<D["method"][P], InOf<D["method"][P]>, OutOf<D["method"][P]>>
    | RawMethod<Work<D["method"][P], Uint8Array, OutOf<D["method"][P]>>>;
};

/** A method whatever its types are. */
export type AnyWork = (input: unknown, call: Call) => unknown;

/** A service as the server mounts it. */
export interface GrpcService {
  readonly descriptor: DescService;
  /** By name of the method, `lowerCamelCase`. */
  readonly methods: ReadonlyMap<string, AnyWork | RawMethod<AnyWork>>;
  /** Most bytes of a message that comes in, where that is less than the server takes. */
  readonly messageBytesMax: number;
}

/** Most bytes of a message of a service that needs no credentials, and asks for little. */
export const OPEN_MESSAGE_BYTES_MAX: number = 64 * 1024;

/** A service with its methods. */
export function grpcService<D extends DescService>(
  descriptor: D,
  methods: MethodsOf<D>,
  messageBytesMax: number = Number.POSITIVE_INFINITY,
): GrpcService {
  const known = new Map<string, AnyWork | RawMethod<AnyWork>>();
  // Each was checked against its descriptor, by which its messages are read: the types may go.
  for (const [name, method] of Object.entries(methods)) known.set(name, method as AnyWork | RawMethod<AnyWork>);
  return { descriptor, methods: known, messageBytesMax };
}

/** A method that takes its messages as bytes: views, valid while the message is worked on. */
export function raw<W>(work: W): RawMethod<W> {
  return { raw: work };
}
