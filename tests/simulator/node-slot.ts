/** A slot for a node: the process that runs there now, and its machine's clocks. */
import type { CallbackRequest, DeliveryAttempt } from "../../gateway/callbacks/callback.ts";
import type { Directory } from "../../gateway/threeds/directory-client.ts";
import { asInstant, type Clock } from "../../gateway/values/time.ts";
import type { Configurations } from "./configuration.ts";
import type { DatabaseServer } from "./database-server.ts";
import type { Network } from "./network.ts";
import { type SimulatedNode, startNode } from "./node.ts";
import { startOfTime } from "./platform.ts";
import type { Random } from "./random.ts";
import type { Story } from "./story.ts";
import { SimulatedProcess, type VirtualTime } from "./virtual-time.ts";

type World = {
  readonly time: VirtualTime;
  readonly server: DatabaseServer;
  readonly story: Story;
  readonly network: Network;
  readonly sendCallback: (message: CallbackRequest) => Promise<DeliveryAttempt>;
  readonly directory: Directory;
  readonly configurations: Configurations;
};

export type NodeSlot = ReturnType<typeof makeNodeSlot>;

const startAgainMs = 2_000;
/** The time after which the server misses a machine's answers to its probes. */
const aliveMs = 11_000;

export function makeNodeSlot(name: string, world: World) {
  const { time, server, story, network, sendCallback, directory, configurations } = world;
  const machine = makeMachine(time);
  let process = new SimulatedProcess(name, machine.clock.steadyMs);
  let node: SimulatedNode | undefined;
  let cancelStart = () => {};
  let isStopped = false;

  return {
    name,
    get process() {
      return process;
    },
    get node() {
      return node;
    },
    start,
    die,
    stop(): void {
      die(0);
      cancelStart();
      isStopped = true;
    },
    freeze(forMs: number): void {
      process.frozenUntil = Math.max(process.frozenUntil, time.now() + forMs);
    },
    suspend(forMs: number): void {
      process.frozenUntil = Math.max(process.frozenUntil, time.now() + forMs);
      machine.suspend(forMs);
      const suspended = process;
      if (forMs > aliveMs) time.after(aliveMs, time.world, () => server.endSessionsOf(suspended));
    },
    jump: machine.jump,
    drift: machine.drift,
    heal(): void {
      time.thaw(process);
      machine.heal();
      if (!process.isAlive) start();
    },
  };

  function die(forMs: number): void {
    process.isAlive = false;
    node = undefined;
    network.reset(process);
    server.endSessionsOf(process);
    cancelStart();
    cancelStart = time.after(forMs, time.world, start);
  }

  /** Starts a node. A supervisor starts a node again that cannot start. */
  function start(): void {
    cancelStart();
    if (isStopped) return;
    machine.start();
    const own = new SimulatedProcess(name, machine.clock.steadyMs);
    process = own;
    const log = (event: string) => story.note(`${name} ${event}`);
    const outside = { sendCallback, directory, configurations, log };
    const options = { name, database: server.connect(), clock: machine.clock, ...outside };
    time.after(0, own, () => {
      startNode(options).then(
        (started) => {
          node = started;
          story.tell(`${name} runs`);
        },
        () => die(startAgainMs),
      );
    });
  }
}

/** Sends requests to random nodes. Returns undefined if no answer comes. */
export function makeCall(slots: readonly NodeSlot[], time: VirtualTime, random: Random) {
  return <Result>(work: (node: SimulatedNode) => Promise<Result>) => {
    const { process: owner, node } = random.pick(slots);
    return new Promise<Result | undefined>((resolve) => {
      const giveUp = time.after(45_000, time.world, () => resolve(undefined));
      if (node === undefined) return;
      const reply = (result: Result | undefined) =>
        void time.after(random.skewed(1, 50), time.world, () => {
          giveUp();
          resolve(result);
        });
      time.after(random.skewed(1, 50), owner, () => {
        work(node).then(reply, () => reply(undefined));
      });
    });
  };
}

/**
 * Makes the clocks of a machine: one that can be set, and a steady one that stands still while the
 * machine is suspended.
 */
function makeMachine(time: VirtualTime) {
  let [offsetMs, rate, since, steadySince] = [0, 1, 0, 0];
  let restMs = 0;
  let isSuspended = false;

  const clock: Clock = {
    now: () => asInstant(startOfTime + Math.floor(steady() + restMs + offsetMs)),
    steadyMs: steady,
    after: time.startTimer,
  };
  return {
    clock,
    jump: (byMs: number) => {
      offsetMs += byMs;
    },
    drift: (newRate: number, forMs: number) => {
      changeRate(newRate);
      time.after(forMs, time.world, () => changeRate(1));
    },
    suspend: (forMs: number) => {
      changeRate(0);
      restMs += forMs;
      isSuspended = true;
      time.after(forMs, time.world, () => {
        changeRate(1);
        isSuspended = false;
      });
    },
    heal,
    /** A process that starts on a suspended machine starts with the machine. */
    start: () => {
      if (isSuspended) heal();
    },
  };

  /** The time service sets the clock right. */
  function heal(): void {
    changeRate(1);
    isSuspended = false;
    offsetMs = time.now() - steady() - restMs;
  }

  function steady(): number {
    return steadySince + (time.now() - since) * rate;
  }

  function changeRate(newRate: number): void {
    [steadySince, since, rate] = [steady(), time.now(), newRate];
  }
}
