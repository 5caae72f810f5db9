/** What comes in groups, one by one. */
export async function* eachOf<T>(groups: AsyncIterable<Iterable<T>>): AsyncGenerator<T> {
  for await (const group of groups) yield* group;
}
