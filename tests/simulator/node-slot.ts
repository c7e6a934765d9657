/** The place of a node: the process that runs there now, and its machine's clocks. */
import type { CallbackRequest, DeliveryAttempt } from "../../gateway/callbacks/callback.ts";
import type { Directory } from "../../gateway/threeds/directory-client.ts";
import { asInstant, type Clock } from "../../gateway/values/time.ts";
import type { DatabaseServer } from "./database-server.ts";
import type { Network } from "./network.ts";
import { type SimulatedNode, startNode } from "./node.ts";
import { startOfTime } from "./platform.ts";
import type { Story } from "./story.ts";
import { SimulatedProcess, type VirtualTime } from "./virtual-time.ts";

type World = {
  readonly time: VirtualTime;
  readonly server: DatabaseServer;
  readonly story: Story;
  readonly network: Network;
  readonly sendCallback: (message: CallbackRequest) => Promise<DeliveryAttempt>;
  readonly directory: Directory;
};

export type NodeSlot = ReturnType<typeof makeNodeSlot>;

const startAgainMs = 2_000;

export function makeNodeSlot(name: string, world: World) {
  const { time, server, story, network, sendCallback, directory } = world;
  const machine = makeMachine(time);
  let process = new SimulatedProcess(name);
  let node: SimulatedNode | undefined;
  let cancelStart = () => {};

  return {
    get process() {
      return process;
    },
    get node() {
      return node;
    },
    start,
    die,
    freeze(forMs: number): void {
      process.frozenUntil = Math.max(process.frozenUntil, time.now() + forMs);
    },
    suspend(forMs: number): void {
      process.frozenUntil = Math.max(process.frozenUntil, time.now() + forMs);
      machine.suspend(forMs);
    },
    jump: machine.jump,
    drift: machine.drift,
    heal(): void {
      process.frozenUntil = 0;
      machine.heal();
      if (!process.isAlive) start();
    },
  };

  function die(forMs: number): void {
    process.isAlive = false;
    node = undefined;
    network.reset(process);
    cancelStart();
    cancelStart = time.after(forMs, time.world, start);
  }

  /** A node that cannot start is started again by its supervisor. */
  function start(): void {
    cancelStart();
    const own = new SimulatedProcess(name);
    process = own;
    const log = (event: string) => story.note(`${name} ${event}`);
    const outside = { sendCallback, directory, log };
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

/** A clock that can be set, and a steady one, which stands still while the machine is suspended. */
function makeMachine(time: VirtualTime) {
  let [offsetMs, rate, since, steadySince] = [0, 1, 0, 0];
  let restMs = 0;

  const clock: Clock = {
    now: () => asInstant(startOfTime + Math.floor(steady() + restMs + offsetMs)),
    steadyMs: steady,
    after: (delayMs, task) => time.after(delayMs, time.current(), task),
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
      time.after(forMs, time.world, () => changeRate(1));
    },
    /** The time service sets the clock right. */
    heal: () => {
      changeRate(1);
      offsetMs = time.now() - steady() - restMs;
    },
  };

  function steady(): number {
    return steadySince + (time.now() - since) * rate;
  }

  function changeRate(newRate: number): void {
    [steadySince, since, rate] = [steady(), time.now(), newRate];
  }
}
