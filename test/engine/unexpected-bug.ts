/** A bug that nobody expects fails the test that runs. */
export function unexpectedBug(error: Error): void {
  setImmediate(() => {
    throw error;
  });
}
