/**
 * What a file of a service exports: its descriptor and its methods, which get a `Call` beside their messages and throw `DbError`s.
 *
 *   grpcService(HealthCheck, { healthCheck: (request, call) => ({}) })
 *   grpcService(TraceService, { export: raw((bytes, call) => …) })     its messages as bytes, undecoded (raw-message.ts)
 *   grpcService(FlightService, { doGet: framed((ticket, call) => …) })  its answers as frames (outgoing-frames.ts)
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

/** A method whose messages out are frames, its own. */
export interface FramedMethod<W> {
  readonly framed: W;
}

type InOf<M extends DescMethod> = M extends { readonly input: infer I extends DescMessage } ? MessageShape<I> : never;
type OutOf<M extends DescMethod> = M extends { readonly output: infer O extends DescMessage } ? MessageInitShape<O> : never;

/** The methods of a service; those that are left out answer UNIMPLEMENTED. */
export type MethodsOf<D extends DescService> = {
  readonly [P in keyof D["method"]]?:
    | Work<D["method"][P], InOf<D["method"][P]>, OutOf<D["method"][P]>>
    | RawMethod<Work<D["method"][P], Uint8Array, OutOf<D["method"][P]>>>
    | FramedMethod<Work<D["method"][P], InOf<D["method"][P]>, Uint8Array>>;
};

/** A method whatever its types are. */
export type AnyWork = (input: unknown, call: Call) => unknown;

/** A service as the server mounts it. */
export interface GrpcService {
  readonly descriptor: DescService;
  /** By name of the method, `lowerCamelCase`. */
  readonly methods: ReadonlyMap<string, AnyMethod>;
  /** Whether its answers are packed as their client accepts. */
  readonly packsAnswers: boolean;
  /** Most bytes of a message that comes in, where that is less than the server takes. */
  readonly messageBytesMax: number;
}

/** What a service may say of itself. */
export type ServiceOptions = Partial<Pick<GrpcService, "packsAnswers" | "messageBytesMax">>;

/** Most bytes of a message of a service that needs no credentials, and asks for little. */
export const OPEN_MESSAGE_BYTES_MAX: number = 64 * 1024;

/** A method of any form. */
export type AnyMethod = AnyWork | RawMethod<AnyWork> | FramedMethod<AnyWork>;

/** A service with its methods. */
export function grpcService<D extends DescService>(descriptor: D, methods: MethodsOf<D>, options: ServiceOptions = {}): GrpcService {
  const { packsAnswers = true, messageBytesMax = Number.POSITIVE_INFINITY } = options;
  const known = new Map<string, AnyMethod>();
  // Each was checked against its descriptor, by which its messages are read: the types may go.
  for (const [name, method] of Object.entries(methods)) known.set(name, method as AnyMethod);
  return { descriptor, methods: known, packsAnswers, messageBytesMax };
}

/** A method that frames its answers itself: each is one from `newFrame`, which goes to the transport. */
export function framed<W>(work: W): FramedMethod<W> {
  return { framed: work };
}

/** A method that takes its messages as bytes: views, valid while the message is worked on. */
export function raw<W>(work: W): RawMethod<W> {
  return { raw: work };
}
