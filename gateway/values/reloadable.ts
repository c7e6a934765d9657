/**
 * A value in memory that is read again from its source when it may have changed. Reads run one
 * after the other, so an older read never replaces a newer one; a failed read is reported and
 * leaves the present value in place.
 */
type Source<Value> = {
  /** Receives the present value, so that parts that have not changed can be kept. */
  readonly read: (present: Value | undefined) => Promise<Value>;
  readonly onError: (error: unknown) => void;
};

/** Opens the value. Rejects if the first read fails. */
export async function openReloadable<Value>({ read, onError }: Source<Value>) {
  let value = await read(undefined);
  let latest = Promise.resolve();
  let waiting: Promise<void> | undefined;

  return {
    current: () => value,
    /**
     * Reads again. Resolves when a read that began after this call has ended, and never rejects.
     * Calls that wait for the same read share it.
     */
    reload(): Promise<void> {
      if (waiting !== undefined) return waiting;
      waiting = latest.then(readAgain);
      latest = waiting;
      return waiting;
    },
  };

  async function readAgain(): Promise<void> {
    waiting = undefined;
    try {
      value = await read(value);
    } catch (error) {
      onError(error);
    }
  }
}
