/**
 * One simulation of one seed: two or three nodes, the database, the host and merchants, with the
 * faults of the seed for five minutes, and then without faults until nothing is left to do.
 */
import type { Gate } from "../../gateway/acquirers/gates.ts";
import { allDigits, directoryName } from "./cards.ts";
import { changes, gates, makeConfigurations } from "./configuration.ts";
import type { Row } from "./database-model.ts";
import { readArray, readDocuments } from "./database-model.ts";
import { makeDatabaseServer } from "./database-server.ts";
import { makeDirectoryHost } from "./directory.ts";
import { describeFault, type Fault, planDuration, planFaults, planStorms } from "./faults.ts";
import { type Booking, goodManners, makeHost } from "./host.ts";
import { makeLaws, type Violation } from "./laws.ts";
import { type Purchase, planPurchases, startPurchase } from "./merchants.ts";
import { makeNetwork } from "./network.ts";
import { makeCall, makeNodeSlot, type NodeSlot } from "./node-slot.ts";
import { makeOperator } from "./operator.ts";
import { replacePlatform, startOfTime } from "./platform.ts";
import { makeRandom } from "./random.ts";
import { makeReceivers } from "./receivers.ts";
import { makeRotation } from "./rotation.ts";
import { makeStory } from "./story.ts";
import { makeVirtualTime, type SimulatedProcess } from "./virtual-time.ts";

export type Plan = {
  /** The time at which all faults end. */
  readonly untilMs: number;
  readonly faults: readonly Fault[];
  readonly purchases: readonly Purchase[];
  readonly nodes: number;
  /** Whether the host answers over any connection, during the faults and after them. */
  readonly answersAnywhere: boolean;
};

export type Outcome = {
  readonly seed: number;
  readonly plan: Plan;
  readonly hash: string;
  readonly events: number;
  readonly orders: number;
  readonly charges: number;
  readonly virtualMs: number;
  readonly reached: ReadonlySet<string>;
  readonly violations: readonly Violation[];
  readonly story: readonly string[];
};

/** The offset of the other host's ports. */
const otherPorts = 1_000;
const calmMs = 6 * 3_600_000;
/** The interval at which operators check what no node can settle. */
const telephoneMs = 1_800_000;

/** Makes a plan. The seed chooses what `given` leaves open. */
export function planOf(
  seed: number,
  purchases: number,
  given: Partial<Pick<Plan, "nodes" | "answersAnywhere">> = {},
): Plan {
  const random = makeRandom(seed);
  const ways = random.fork("ways");
  const nodes = given.nodes ?? (ways.chance(0.25) ? 3 : 2);
  const answersAnywhere = given.answersAnywhere ?? ways.chance(0.25);
  const untilMs = planDuration(random.fork("duration"));
  const span = { untilMs, storms: planStorms(random.fork("storms"), untilMs) };
  return {
    untilMs,
    nodes,
    answersAnywhere,
    faults: planFaults(random.fork("faults"), nodes, span),
    purchases: planPurchases(random.fork("purchases"), purchases, span),
  };
}

export async function simulate(seed: number, plan: Plan): Promise<Outcome> {
  const random = makeRandom(seed);
  const usualManners = { ...goodManners, answersAnywhere: plan.answersAnywhere };
  const manners = { ...usualManners };
  const books: Booking[] = [];
  let lookAt = 0;
  const time = makeVirtualTime();
  const network = makeNetwork(time, random.fork("network"));
  const restore = replacePlatform(time, random.fork("platform"), network);
  const story = makeStory(time);
  const about = (reference: string) => laws.ownerOf(reference) || reference;
  const server = makeDatabaseServer({
    time,
    random: random.fork("database"),
    onExecuted,
  });
  const hosts = ["host", "other host"].map(openHost);
  const directory = makeDirectoryHost({
    time,
    random: random.fork("directory"),
    async postResult(text) {
      const answer = await call(({ receiveResult }) => receiveResult(directoryName, text));
      return typeof answer === "string" ? answer : undefined;
    },
  });
  const receivers = makeReceivers({ time, story, random: random.fork("receivers") });
  const known = { books, heard: receivers.heard, secrets: allDigits, wasLossy: server.wasLossy };
  const laws = makeLaws(server.tables, { ...known, ...directory, now: time.now });
  const [changeRandom, gateRandom] = [random.fork("changes"), random.fork("gates")];
  const configurations = makeConfigurations(server.notify);
  const outside = { sendCallback: receivers.send, directory: directory.directory, configurations };
  const slots = Array.from({ length: plan.nodes }, (_, index) =>
    makeNodeSlot(`node-${index + 1}`, { time, server, story, network, ...outside }),
  );
  const call = makeCall(slots, time, random.fork("calls"));
  const operator = makeOperator({
    time,
    server,
    story,
    hosts,
    books,
    configurations,
    random: random.fork("operator"),
  });
  const rotation = makeRotation({ time, server, story });
  for (const slot of slots) slot.start();
  const merchants = { time, random, laws, story, directory, call };
  for (const purchase of plan.purchases) startPurchase(purchase, merchants);
  for (const fault of plan.faults) time.after(fault.atMs, time.world, () => begin(fault));
  const onRejection = (error: unknown) => laws.breakLaw("no promise is left", String(error));
  process.on("unhandledRejection", onRejection);
  try {
    await time.run(plan.untilMs);
    heal();
    await time.run(plan.untilMs + calmMs, isOver);
    await laws.checkEnd(startOfTime + time.now());
  } finally {
    process.off("unhandledRejection", onRejection);
    restore();
  }
  return report();

  function report(): Outcome {
    const wrong = new Set(laws.violations.map(({ orderId }) => orderId));
    const names = [...wrong].flatMap((id) => server.tables.orders.get(id)?.client_orderid ?? []);
    return {
      seed,
      plan,
      hash: story.digest(),
      events: time.count(),
      virtualMs: time.now(),
      orders: server.tables.orders.values().length,
      charges: books.length,
      reached: new Set(laws.reached.keys()),
      violations: laws.violations,
      story: laws.violations.length === 0 ? [] : story.linesAbout(new Set([...wrong, ...names])),
    };
  }

  /** Opens a host. Gates connect to the first; the other one has books of its own. */
  function openHost(name: string, index: number) {
    return makeHost({
      time,
      network,
      random: random.fork(name),
      manners,
      portOffset: otherPorts * index,
      onMessage(message) {
        const reference = message.fields[37] ?? "";
        laws.onMessage(message, index);
        story.tell(`the ${name} receives ${message.mti} ${reference}`, about(reference));
      },
      onReversed: (reference) => laws.onReversed(reference, index),
      onBooked(booking) {
        books.push(booking);
        laws.onBooked(booking);
      },
      tell: (sentence, reference) =>
        story.tell(sentence.replace("the host", `the ${name}`), about(reference)),
    });
  }

  /** Whether the simulation is over, checked every few seconds. */
  function isOver(): boolean {
    if (time.now() < lookAt) return false;
    lookAt = time.now() + 5_000;
    return time.now() > plan.untilMs + 260_000 && isQuiet();
  }

  function isQuiet(): boolean {
    const { orders, callbacks } = server.tables;
    const isOver = orders.values().every((each) => each.finished_at !== null && each.owes === null);
    const isTold = callbacks.values().every(({ ended }) => ended !== null);
    return isOver && isTold && !rotation.isUnderWay();
  }

  function onExecuted(
    name: string,
    values: readonly unknown[],
    rows: Row[],
    sender: SimulatedProcess,
  ): void {
    story.note(`${name} ${rows.length}`);
    if (name === "record_callbacks") noteCallbacks(String(values[0]));
    if (!/^(begin_orders|move_orders|enter_cards)$/.test(name)) return;
    const written = new Set(rows.map(({ id }) => id));
    const events = readDocuments(values[11]);
    const ats = readArray(values[9]);
    for (const [index, id] of readArray(values[1]).entries()) {
      if (id === null || !written.has(id)) continue;
      const record = server.tables.orders.get(id);
      const meaning = `${record?.kind} ${record?.stage}, owes ${record?.owes ?? "nothing"}`;
      story.tell(`${values[12]} commits ${kindsOf(events[index])}: ${meaning}`, id);
      const at = Number(ats[index]) - startOfTime;
      const from = { node: String(values[12]), process: sender };
      laws.onCommit(id, { events: events[index] ?? "[]", ...from, at });
    }
  }

  function noteCallbacks(packed: string): void {
    for (const { order_id, sequence } of JSON.parse(packed)) {
      const { ended } = server.tables.callbacks.get(`${order_id}/${sequence}`) ?? {};
      if (ended === "delivered") laws.onCallbackEnded(order_id, sequence);
    }
  }

  /**
   * Starts another process with the name of a node, which waits for the name and gives up in the
   * end.
   */
  function startNamesake({ name }: NodeSlot, forMs: number): void {
    const namesake = makeNodeSlot(name, { time, server, story, network, ...outside });
    slots.push(namesake);
    namesake.start();
    time.after(forMs, time.world, () => {
      namesake.stop();
      slots.splice(slots.indexOf(namesake), 1);
    });
  }

  function heal(): void {
    configurations.heal();
    story.tell("all faults end");
    server.heal();
    network.heal();
    Object.assign(manners, usualManners);
    directory.manners.unruly = 0;
    receivers.heal();
    for (const slot of slots) slot.heal();
    for (const { id, settings } of gates) void operator.giveHost(id, settings.port);
    rotation.finish();
    time.after(telephoneMs, time.world, telephone);
  }

  function telephone(): void {
    void operator.settleStuck(laws.isLost);
    void operator.settleRepeats();
    time.after(telephoneMs, time.world, telephone);
  }

  function leadAway({ id, settings: { port } }: Gate, later: (end: () => void) => void): void {
    void operator.giveHost(id, port + otherPorts);
    later(() => void operator.giveHost(id, port));
  }

  function begin(fault: Fault): void {
    const { kind, forMs, degree } = fault;
    const slot = slots[fault.node] as NodeSlot;
    story.tell(`fault: ${describeFault(fault)}`);
    const later = (end: () => void) => void time.after(forMs, time.world, end);
    // biome-ignore format: a table
    const begins: Record<Fault["kind"], () => void> = {
      node_dies:              () => slot.die(forMs),
      node_starts_twice:      () => startNamesake(slot, forMs),
      node_freezes:           () => slot.freeze(forMs),
      node_is_suspended:      () => slot.suspend(forMs),
      clock_jumps:            () => slot.jump((degree - 0.5) * 2 * (degree > 0.8 ? 7_200_000 : 60_000)),
      clock_drifts:           () => slot.drift(1 + (degree - 0.5) / 5, forMs),
      line_is_cut:            () => network.cut(slot.process, forMs),
      line_is_slow:           () => network.slow(slot.process, forMs),
      links_are_reset:        () => network.reset(slot.process),
      host_line_is_cut:       () => { for (const { process } of hosts) network.cut(process, forMs); },
      host_is_unruly:         () => { manners.unruly = degree; later(() => { manners.unruly = 0; }); },
      host_is_fickle:         () => { manners.isFickle = true; later(() => { manners.isFickle = false; }); },
      host_is_silent:         () => { manners.isSilent = true; later(() => { manners.isSilent = false; }); },
      host_refuses_reversals: () => { manners.refusesReversals = true; later(() => { manners.refusesReversals = false; }); },
      host_refuses_repeats:   () => { manners.refusesRepeats = true; later(() => { manners.refusesRepeats = false; }); },
      database_is_away:       () => server.goAway(forMs, false),
      database_is_silent:     () => server.goAway(forMs, true),
      database_is_long_away:  () => { server.goAway(forMs, degree < 0.5); slot.die(forMs + degree * 2_000); },
      database_is_read_only:  () => server.refuseWrites(forMs),
      database_loses_answers: () => server.loseStatements(forMs),
      standby_takes_over:     () => laws.onCommitsLost(server.failOver(forMs)),
      operator_decides:       () => operator.work(forMs, degree < 0.5),
      keys_are_rotated:       () => rotation.begin(forMs),
      gate_is_removed:        () => { configurations.remove(degree < 0.3 ? gates : [changeRandom.pick(gates)]); later(configurations.heal); },
      gate_changes_host:      () => leadAway(gateRandom.pick(gates), later),
      endpoint_is_changed:    () => { configurations.change(changeRandom.pick(changes)); later(configurations.heal); },
      directory_is_unruly:    () => { directory.manners.unruly = degree; later(() => { directory.manners.unruly = 0; }); },
      receivers_fail:         () => receivers.fail(forMs),
    };
    begins[kind]();
  }
}

function kindsOf(events = "[]"): string {
  return (JSON.parse(events) as { kind: string }[]).map(({ kind }) => kind).join(", ");
}
