/**
 * Virtual time: one queue of events, each of which belongs to a process of the simulation. Between
 * two events everything runs that the first one has made ready. A process that has ended gets no
 * more events; a frozen one gets them when it continues.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { nextTick } from "node:process";

/** A node, the database's server, the host or a merchant. */
export class SimulatedProcess {
  readonly name: string;
  /** Its machine's clock for timers, which stands still while the machine is suspended. */
  readonly steadyMs: (() => number) | undefined;
  isAlive = true;
  frozenUntil = 0;
  /** Runs a task as this process, once it has been made. */
  enter: ((task: () => void) => void) | undefined;

  constructor(name: string, steadyMs?: () => number) {
    this.name = name;
    this.steadyMs = steadyMs;
  }
}

const realTurn = setImmediate;

type Event = {
  at: number;
  /** Events of one moment happen in the order in which they were made. */
  place: number;
  readonly owner: SimulatedProcess;
  readonly task: () => void;
  isCancelled: boolean;
  /** Whether its process was frozen when it was due. */
  isHeld: boolean;
};

export type VirtualTime = ReturnType<typeof makeVirtualTime>;

export function makeVirtualTime() {
  const running = new AsyncLocalStorage<SimulatedProcess>();
  const world = new SimulatedProcess("world");
  const queue: Event[] = [];
  let now = 0;
  let place = 0;
  let count = 0;

  return {
    /** Milliseconds since the simulation began. */
    now: () => now,
    /** The number of events that have happened. */
    count: () => count,
    current: () => running.getStore() ?? world,
    world,
    after,
    startTimer,
    runAs: <Result>(owner: SimulatedProcess, task: () => Result) => running.run(owner, task),
    run,
    thaw,
  };

  /** Continues a frozen process early, with the events that were held back. */
  function thaw(owner: SimulatedProcess): void {
    owner.frozenUntil = Math.min(owner.frozenUntil, now);
    for (const event of queue.splice(0)) {
      if (event.owner === owner && event.isHeld) event.at = now;
      push(queue, event);
    }
  }

  /** Schedules a task, and returns a function that cancels it. */
  function after(delayMs: number, owner: SimulatedProcess, task: () => void): () => void {
    const at = now + Math.max(0, Number.isFinite(delayMs) ? delayMs : 0);
    place += 1;
    const event = { at, place, owner, task, isCancelled: false, isHeld: false };
    push(queue, event);
    return () => {
      event.isCancelled = true;
    };
  }

  /** Starts a timer of the current process. What happens to its machine may delay it. */
  function startTimer(delayMs: number, task: () => void): () => void {
    const owner = running.getStore() ?? world;
    const { steadyMs } = owner;
    if (steadyMs === undefined) return after(delayMs, owner, task);
    const dueMs = steadyMs() + delayMs;
    let cancel = after(delayMs, owner, ring);
    return () => cancel();

    function ring(): void {
      const leftMs = dueMs - (steadyMs?.() ?? dueMs);
      if (leftMs >= 1 && Number.isFinite(leftMs)) cancel = after(leftMs, owner, ring);
      else task();
    }
  }

  /** Runs until the time, or until `isOver` returns true. */
  async function run(until: number, isOver: () => boolean = () => false): Promise<void> {
    for (;;) {
      const event = queue[0];
      if (event === undefined || event.at > until || isOver()) break;
      pop(queue);
      if (event.isCancelled || !event.owner.isAlive) continue;
      if (event.owner.frozenUntil > event.at) {
        event.at = event.owner.frozenUntil;
        event.isHeld = true;
        push(queue, event);
        continue;
      }
      now = event.at;
      count += 1;
      event.owner.enter ??= running.run(event.owner, () => AsyncLocalStorage.snapshot());
      event.owner.enter(event.task);
      // Every promise that is ready has run by then. The real event loop runs only now and then,
      // because a turn costs as much as an event.
      await new Promise((resolve) => (count % 256 === 0 ? realTurn : nextTick)(resolve));
    }
    if (queue.length === 0 || (queue[0]?.at ?? 0) > until) now = Math.max(now, until);
  }
}

function isBefore(left: Event, right: Event): boolean {
  return left.at < right.at || (left.at === right.at && left.place < right.place);
}

/** The queue is a binary heap. */
function push(heap: Event[], event: Event): void {
  let index = heap.length;
  heap.push(event);
  while (index > 0) {
    const above = (index - 1) >> 1;
    const parent = heap[above] as Event;
    if (!isBefore(event, parent)) break;
    heap[index] = parent;
    index = above;
  }
  heap[index] = event;
}

function pop(heap: Event[]): void {
  const last = heap.pop() as Event;
  if (heap.length === 0) return;
  let index = 0;
  for (;;) {
    const left = 2 * index + 1;
    if (left >= heap.length) break;
    const right = left + 1;
    const isRight = right < heap.length && isBefore(heap[right] as Event, heap[left] as Event);
    const least = isRight ? right : left;
    if (!isBefore(heap[least] as Event, last)) break;
    heap[index] = heap[least] as Event;
    index = least;
  }
  heap[index] = last;
}
